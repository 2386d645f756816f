const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';

/**
 * Returns the data of an event of a chat stream, with the members that OpenAI sends.
 * @param more further members at the end
 */
export function chatEvent(delta: object, finishReason: string | null, more: object): string {
  return JSON.stringify({
    id: 'chatcmpl-B9MHDbslfkBeAs8l4bebGdFOJ6PeG',
    object: 'chat.completion.chunk',
    created: 1_741_570_283,
    model: 'gpt-large-2026-01-01',
    service_tier: 'default',
    system_fingerprint: 'fp_4a331a0222',
    choices: [{ index: 0, delta, logprobs: null, finish_reason: finishReason }],
    usage: null,
    ...more,
  });
}

/** Returns random characters, as OpenAI adds them to each event by default to hide the length of its text. */
export function obfuscation(): string {
  const length = 1 + Math.floor(Math.random() * 16);
  return Array.from({ length }, () => alphabet[Math.floor(Math.random() * alphabet.length)]).join('');
}
