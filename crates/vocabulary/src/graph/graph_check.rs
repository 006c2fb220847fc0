//! The check of a graph of tasks before anything is created or paid.

use super::for_each::ForEach;
use super::placeholder::{Placeholder, ResultValue};
use super::template::{BadPlaceholder, Template, TemplateNames};
use crate::nearest;

/// A task, as far as the check asks for it.
#[derive(Debug, Clone, Copy)]
pub struct AskedTask<'a> {
    /// Its name.
    pub name: &'a str,
    /// The names of the tasks that it needs.
    pub needs: &'a [String],
    /// The list for whose items it is done, if there is one.
    pub for_each: Option<&'a ForEach>,
    /// Its prompt.
    pub prompt: &'a str,
}

/// A task that was checked.
#[derive(Debug, Clone, PartialEq)]
pub struct CheckedTask {
    /// The numbers of the tasks that it needs.
    pub needs: Vec<usize>,
    /// Its prompt.
    pub template: Template,
    /// The list in the result of a task for whose items it is done, if there is one.
    pub map: Option<ResultValue>,
    /// What looks like a placeholder in its prompt and names nothing.
    pub doubts: Vec<String>,
}

/// The reason why a graph of tasks cannot be done.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum GraphFault {
    /// A need names no task.
    #[error("{task} needs \"{need}\", which is not a task of this call{}", meant(.nearest.as_deref()))]
    UnknownNeed {
        /// The task that has the need.
        task: String,
        /// The need.
        need: String,
        /// The task that was probably meant.
        nearest: Option<String>,
    },
    /// Two tasks have a name that a third one needs.
    #[error("{task} needs \"{need}\", and several tasks have this name; give each its own name")]
    SharedName {
        /// The task that has the need.
        task: String,
        /// The name.
        need: String,
    },
    /// Tasks wait for each other.
    #[error("the needs of these tasks go round in a circle: {}", .0.join(" needs "))]
    Circle(Vec<String>),
    /// A placeholder can have no value.
    #[error("the prompt of {task} cannot be filled: {problem}")]
    Placeholder {
        /// The task.
        task: String,
        /// The problem.
        problem: BadPlaceholder,
    },
    /// The list of a map is no list of a result.
    #[error(
        "forEach of {task} must name a list in the result of a task that it needs, such as \"{{{{plan.structured.files}}}}\", not \"{{{{{written}}}}}\"{problem}"
    )]
    Map {
        /// The task.
        task: String,
        /// The text between the braces.
        written: String,
        /// What is wrong with it, if that is known.
        problem: String,
    },
}

fn meant(nearest: Option<&str>) -> String {
    nearest.map_or_else(String::new, |name| format!("; did you mean \"{name}\"?"))
}

/// Checks the tasks of a call, and cuts their prompts.
pub fn check_graph(tasks: &[AskedTask<'_>]) -> Result<Vec<CheckedTask>, GraphFault> {
    let names: Vec<&str> = tasks.iter().map(|task| task.name).collect();
    let checked = tasks.iter().map(|task| check_task(task, &names));
    let checked: Vec<CheckedTask> = checked.collect::<Result<_, _>>()?;
    match circle(&checked) {
        None => Ok(checked),
        Some(numbers) => {
            let names = numbers.into_iter().map(|number| names[number].to_owned());
            Err(GraphFault::Circle(names.collect()))
        }
    }
}

fn check_task(task: &AskedTask<'_>, names: &[&str]) -> Result<CheckedTask, GraphFault> {
    let needs = task
        .needs
        .iter()
        .map(|need| numbered(task.name, need, names));
    let needs = needs.collect::<Result<Vec<usize>, _>>()?;
    let names = TemplateNames {
        tasks: names,
        needs: task.needs,
        has_items: task.for_each.is_some(),
    };
    let template = Template::parse(task.prompt, names);
    let (template, doubts) = template.map_err(|problem| GraphFault::Placeholder {
        task: task.name.to_owned(),
        problem,
    })?;
    let map = match task.for_each {
        Some(ForEach::Result(written)) => Some(list_of(task.name, written, names)?),
        Some(ForEach::Items(_) | ForEach::Files(_) | ForEach::Lines(_)) | None => None,
    };
    Ok(CheckedTask {
        needs,
        template,
        map,
        doubts,
    })
}

fn numbered(task: &str, need: &str, names: &[&str]) -> Result<usize, GraphFault> {
    let mut found = names.iter().enumerate().filter(|(_, name)| **name == need);
    match (found.next(), found.next()) {
        (Some((number, _)), None) => Ok(number),
        (Some(_), Some(_)) => Err(GraphFault::SharedName {
            task: task.to_owned(),
            need: need.to_owned(),
        }),
        (None, _) => Err(GraphFault::UnknownNeed {
            task: task.to_owned(),
            need: need.to_owned(),
            nearest: nearest(need, names.iter().copied()).map(str::to_owned),
        }),
    }
}

fn list_of(task: &str, written: &str, names: TemplateNames<'_>) -> Result<ResultValue, GraphFault> {
    let names = TemplateNames {
        has_items: false,
        ..names
    };
    let fault = |problem: String| GraphFault::Map {
        task: task.to_owned(),
        written: written.to_owned(),
        problem,
    };
    match names.placeholder(written) {
        Ok(Some(Placeholder::Result(value))) => Ok(value),
        Ok(Some(Placeholder::Item(_) | Placeholder::Index) | None) => Err(fault(String::new())),
        Err(problem) => Err(fault(format!(": {problem}"))),
    }
}

/// Returns tasks that wait for each other, the first one again at the end, if there are any.
fn circle(tasks: &[CheckedTask]) -> Option<Vec<usize>> {
    let mut is_done = vec![false; tasks.len()];
    loop {
        let is_free = |(number, task): &(usize, &CheckedTask)| {
            !is_done[*number] && task.needs.iter().all(|need| is_done[*need])
        };
        match tasks.iter().enumerate().find(is_free) {
            Some((number, _)) => is_done[number] = true,
            None => break,
        }
    }
    let mut path = vec![is_done.iter().position(|is_done| !is_done)?];
    loop {
        let last = tasks.get(*path.last()?)?;
        let next = *last.needs.iter().find(|need| !is_done[**need])?;
        if let Some(first) = path.iter().position(|number| *number == next) {
            path.push(next);
            return Some(path.split_off(first));
        }
        path.push(next);
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    fn check(tasks: &[(&str, &[&str], &str)]) -> Result<Vec<Vec<usize>>, String> {
        let needs: Vec<Vec<String>> = tasks
            .iter()
            .map(|(_, needs, _)| needs.iter().map(|need| (*need).to_owned()).collect())
            .collect();
        let asked = tasks
            .iter()
            .zip(&needs)
            .map(|((name, _, prompt), needs)| AskedTask {
                name,
                needs,
                for_each: None,
                prompt,
            });
        let checked = check_graph(&asked.collect::<Vec<_>>());
        let checked = checked.map_err(|fault| fault.to_string())?;
        Ok(checked.into_iter().map(|task| task.needs).collect())
    }

    #[test]
    fn needs_become_numbers() {
        let diamond: &[(&str, &[&str], &str)] = &[
            ("d", &["b", "c"], "{{b.output}}"),
            ("b", &["a"], ""),
            ("c", &["a"], ""),
            ("a", &[], ""),
            // Nobody needs them.
            ("x", &[], ""),
            ("x", &[], ""),
        ];
        assert_eq!(
            check(diamond).unwrap(),
            [vec![1, 2], vec![3], vec![3], vec![], vec![], vec![]]
        );
        let names: Vec<String> = (0..64).map(|number| format!("t{number}")).collect();
        let before: Vec<Vec<&str>> = (0..64)
            .map(|number| names[..number].iter().map(String::as_str).collect())
            .collect();
        let tasks: Vec<_> = names
            .iter()
            .zip(&before)
            .map(|(name, needs)| (name.as_str(), needs.as_slice(), ""))
            .collect();
        assert_eq!(check(&tasks).unwrap()[63], (0..63).collect::<Vec<_>>());
    }

    #[test]
    fn what_cannot_be_done_is_named() {
        let faults = [
            check(&[("plan", &[], ""), ("edit", &["plam"], "")]),
            check(&[("a", &["a"], "")]),
            check(&[
                ("d", &["a"], ""),
                ("a", &["c"], ""),
                ("b", &["a"], ""),
                ("c", &["b"], ""),
            ]),
            check(&[("a", &[], ""), ("a", &[], ""), ("b", &["a"], "")]),
            check(&[("a", &[], ""), ("b", &[], "Use {{a.output}}.")]),
        ];
        let faults = faults.map(Result::unwrap_err);
        insta::assert_snapshot!(faults.join("\n"), @r#"
        edit needs "plam", which is not a task of this call; did you mean "plan"?
        the needs of these tasks go round in a circle: a needs a
        the needs of these tasks go round in a circle: a needs c needs b needs a
        b needs "a", and several tasks have this name; give each its own name
        the prompt of b cannot be filled: {{a.output}} names the task a, which is not among the needs; add "needs": ["a"]
        "#);
    }

    #[test]
    fn the_list_of_a_map_is_in_a_result_that_is_needed() {
        let check = |inside: &str| {
            let each = ForEach::Result(inside.to_owned());
            let needs = ["a".to_owned()];
            let a = AskedTask {
                name: "a",
                needs: &[],
                for_each: None,
                prompt: "",
            };
            let map = AskedTask {
                name: "m",
                needs: &needs,
                for_each: Some(&each),
                prompt: "{{item}}",
            };
            let checked = check_graph(&[a, map]).map_err(|fault| fault.to_string());
            checked.map(|mut tasks| tasks.remove(1).map.map(|value| value.to_string()))
        };
        assert_eq!(
            check("a.structured.files"),
            Ok(Some("a.structured.files".to_owned()))
        );
        insta::assert_snapshot!(check("item").unwrap_err(), @r#"forEach of m must name a list in the result of a task that it needs, such as "{{plan.structured.files}}", not "{{item}}""#);
        insta::assert_snapshot!(check("m.output").unwrap_err(), @r#"forEach of m must name a list in the result of a task that it needs, such as "{{plan.structured.files}}", not "{{m.output}}": {{m.output}} names the task m, which is not among the needs; add "needs": ["m"]"#);
    }
}
