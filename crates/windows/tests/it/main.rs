//! Windows as people see them: whole views, whole logs, whole screens.

mod emulator;
mod hostile;
mod live;
mod previews;
mod progress;
mod script;
mod todos;
mod views;
