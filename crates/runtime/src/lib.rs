//! stub
mod arguments;
mod interpreter;
mod script;
mod search_path;
pub use arguments::{ArgumentError, MAX_ARGUMENTS, split_arguments};
pub use interpreter::{INTERPRETERS, Interpreter, Launch, LaunchError, NodeVersion, Types, launch};
pub use script::{SCRIPTS, Script, ScriptError};
pub use search_path::{Program, SYSTEM, SearchPath, TOOLS, Toolbox};
