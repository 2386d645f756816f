/** Errors have causes of their own; a chain is cut off after these. */
const maxCauses = 5;

const unquoted = 'A text could not be parsed.';

/**
 * What the log shows of an error: its name, message, code, place and causes. Further members may hold what a client or a
 * provider has sent, such as the `input` of an invalid URL. The message of a `SyntaxError` quotes the text that could not
 * be parsed.
 */
export function loggedError(error: unknown, causes = 0): object {
  if (!(error instanceof Error)) return { type: typeof error };
  const { name, code, cause } = error as Error & { readonly code?: unknown };
  const message = error instanceof SyntaxError ? unquoted : error.message;
  const isCodeShown = typeof code === 'string' || typeof code === 'number';
  return {
    type: name,
    message,
    ...(isCodeShown && { code }),
    stack: [`${name}: ${message}`, ...framesOf(error)].join('\n'),
    ...(cause !== undefined && causes < maxCauses && { cause: loggedError(cause, causes + 1) }),
  };
}

/** What the log shows of an error that is a text already. */
export function loggedText(text: unknown): unknown {
  return typeof text === 'string' && text.startsWith('SyntaxError') ? `SyntaxError: ${unquoted}` : text;
}

/** The lines of the stack without those of the message, which may have several. */
function framesOf({ stack = '' }: Error): ReadonlyArray<string> {
  return stack.split('\n').filter((line) => /^ {4}at /.test(line));
}
