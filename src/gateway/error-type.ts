/** OpenTelemetry's value for an error type without a name. */
export const otherErrorType = '_OTHER';

/** The form of an error's name; anything else may contain a client's text. */
const name = /^[\w.-]{1,64}$/;

/** Whether a text may be recorded as the type of an error. */
export function isErrorType(text: string): boolean {
  return name.test(text);
}
