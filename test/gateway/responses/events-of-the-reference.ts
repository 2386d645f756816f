const never = {
  audio: 'no target of the catalogue speaks in a response; audio has /v1/audio/speech',
  hosted: 'a tool of OpenAI runs there alone: its events pass from a target with hostedTools as they come',
  background: 'only a target with hostedTools makes a response in the background: its events pass as they come',
  annotation: 'the neutral form has no citations; those of a target of this protocol pass as they come',
  reasoning: 'reasoning of another protocol comes as a summary; the text of a target of this protocol passes',
  failure: 'a failure is the end of the response, because Codex ignores the event of an error',
};

/** Which answer of another protocol produces an event of a type, or why none does. */
export const sourceOfEvent: Readonly<Record<string, string>> = {
  'response.created': 'text',
  'response.in_progress': 'text',
  'response.completed': 'text',
  'response.incomplete': 'cut',
  'response.failed': 'broken',
  'response.queued': never.background,
  error: never.failure,
  'response.output_item.added': 'text',
  'response.output_item.done': 'text',
  'response.content_part.added': 'text',
  'response.content_part.done': 'text',
  'response.output_text.delta': 'text',
  'response.output_text.done': 'text',
  'response.output_text.annotation.added': never.annotation,
  'response.refusal.delta': 'refusal',
  'response.refusal.done': 'refusal',
  'response.function_call_arguments.delta': 'call',
  'response.function_call_arguments.done': 'call',
  'response.custom_tool_call_input.delta': 'free text',
  'response.custom_tool_call_input.done': 'free text',
  'response.reasoning_summary_part.added': 'reasoning',
  'response.reasoning_summary_part.done': 'reasoning',
  'response.reasoning_summary_text.delta': 'reasoning',
  'response.reasoning_summary_text.done': 'reasoning',
  'response.reasoning_text.delta': never.reasoning,
  'response.reasoning_text.done': never.reasoning,
};

export const neverReasons: ReadonlyArray<string> = Object.values(never);

/** Why no answer of another protocol has an event of these families. */
export const familiesThatNeverCome: ReadonlyArray<readonly [RegExp, string]> = [
  [/^response\.audio/, never.audio],
  [/^response\.(code_interpreter|file_search|web_search|image_generation|mcp|shell|compaction)/, never.hosted],
];
