//! M6: A project's links stay inside the project.
