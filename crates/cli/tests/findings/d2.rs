//! D2: A server's working folder is inside the project.
