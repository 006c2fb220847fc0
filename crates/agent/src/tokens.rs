//! Counts the tokens of a conversation, by the model's own count if there is one.

use std::rc::Rc;

use crate::message::{AssistantMessage, Block, Message, StopReason};
use crate::usage::MOST_TOKENS;

const CHARACTERS_PER_TOKEN: usize = 4;
const CHARACTERS_PER_IMAGE: usize = 4800;

/// Estimates how many tokens a message takes; rather too many than too few.
pub(crate) fn estimate(message: &Message) -> u64 {
    let characters = match message {
        Message::System(system) => {
            let tools = serde_json::to_string(&system.tools_added).unwrap_or_default();
            system.content.len() + system.sections.text().len() + tools.len()
        }
        Message::User(user) => blocks(&user.content),
        Message::Assistant(answer) => blocks(&answer.content),
        Message::ToolResult(result) => blocks(&result.content),
        Message::CompactionSummary(compaction) => compaction.summary.len(),
        Message::Other(message) => message.to_string().len(),
    };
    characters.div_ceil(CHARACTERS_PER_TOKEN) as u64
}

fn blocks(blocks: &[Block]) -> usize {
    let sizes = blocks.iter().map(|block| match block {
        Block::Text { text, .. } => text.len(),
        Block::Thinking { thinking, .. } => thinking.len(),
        Block::ToolCall(call) => call.name.len() + call.arguments.to_string().len(),
        Block::Image { .. } => CHARACTERS_PER_IMAGE,
        Block::Other(_) => 0,
    });
    sizes.sum()
}

/// Estimates how many tokens the next request takes. Counts of the model are believed from
/// `trusted_from` on: the counts before it are about a conversation that was longer.
pub(crate) fn context(messages: &[Rc<Message>], trusted_from: usize) -> u64 {
    let counted = messages
        .iter()
        .enumerate()
        .skip(trusted_from)
        .rev()
        .find_map(|(at, message)| Some((at, count(message.as_assistant()?)?)));
    let (from, counted) = counted.map_or((0, 0), |(at, counted)| (at + 1, counted));
    let estimated: u64 = messages.iter().skip(from).map(|one| estimate(one)).sum();
    counted.saturating_add(estimated)
}

/// Returns the model's count. A session file may hold any number, and an absurd one counts as none.
fn count(answer: &AssistantMessage) -> Option<u64> {
    let failed = matches!(answer.stop_reason, StopReason::Error | StopReason::Aborted);
    let counted = Some(answer.usage.total_tokens);
    counted.filter(|tokens| !failed && (1..MOST_TOKENS).contains(tokens))
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    #[test]
    fn an_absurd_count_of_a_session_file_is_not_believed() {
        let answer = |tokens: u64| {
            let message = json!({
                "role": "assistant", "content": "four", "stopReason": "stop",
                "usage": {"totalTokens": tokens},
            });
            Rc::new(serde_json::from_value::<Message>(message).unwrap())
        };
        let context = |tokens: u64| context(&[answer(tokens), answer(0)], 0);
        assert_eq!([100, u64::MAX].map(context), [101, 2]);
    }
}
