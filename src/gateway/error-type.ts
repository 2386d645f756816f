/** OpenTelemetry's word for what has no name of its own. */
export const otherErrorType = '_OTHER';

/** What reads as an error's name; anything else could be a text that somebody wrote. */
const name = /^[\w.-]{1,64}$/;

/** Whether a text may be recorded as the type of an error. */
export function isErrorType(text: string): boolean {
  return name.test(text);
}
