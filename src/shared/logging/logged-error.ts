/** Maximum number of causes. Errors have causes of their own; a chain is cut off after these. */
const maxCauses = 5;

const unquoted = 'A text could not be parsed.';
const omitted = 'Its text may quote a value.';

/** Names of errors of parsers and drivers. Their texts have a part of what was parsed, or of a document. */
const quotingNames = /^(?:URIError|HTTPParserError|Mongo|BSON|Zod)/;
/** Codes of Node's own errors about values: `Received '…'`. */
const quotingCodes = /^ERR_(?:INVALID|OUT_OF_RANGE|ASSERTION|HTTP_INVALID|UNKNOWN)/;
/** The form of codes that are shown. Any other text may be anything. */
const codeForm = /^[A-Z][A-Z0-9_]{1,60}$/;

/**
 * What the log shows of an error: its name, message, code, place and causes. Further members may hold what a client or a
 * provider has sent, such as the `input` of an invalid URL or the document of a write. So may a message that quotes the
 * value that it is about.
 */
export function loggedError(error: unknown, causes = 0): object {
  if (!(error instanceof Error)) return { type: typeof error };
  const { name, code, cause } = error as Error & { readonly code?: unknown };
  const message = messageOf(error, code);
  const isCodeShown = typeof code === 'number' || codeForm.test(String(code));
  return {
    type: name,
    message,
    ...(isCodeShown && { code }),
    stack: [`${name}: ${message}`, ...framesOf(error)].join('\n'),
    ...(cause !== undefined && causes < maxCauses && { cause: loggedError(cause, causes + 1) }),
  };
}

/** The text of the error as the log shows it. */
export function errorText(error: unknown): string {
  if (!(error instanceof Error)) return typeof error === 'string' ? error : typeof error;
  const { name, code } = error as Error & { readonly code?: unknown };
  const message = messageOf(error, code);
  return message === omitted && typeof code === 'number' ? `${name} ${code}: ${message}` : `${name}: ${message}`;
}

function messageOf(error: Error, code: unknown): string {
  if (error instanceof SyntaxError) return unquoted;
  return quotingNames.test(error.name) || quotingCodes.test(String(code)) ? omitted : error.message;
}

/** Cleans a text from outside, which may be anything. */
export function loggedText(text: unknown): unknown {
  if (text instanceof Error) return loggedError(text);
  return typeof text === 'string' && text.startsWith('SyntaxError') ? `SyntaxError: ${unquoted}` : text;
}

/** The frames of the stack without the lines of the message, which may have several. */
function framesOf({ stack = '' }: Error): ReadonlyArray<string> {
  return stack.split('\n').filter((line) => /^ {4}at /.test(line));
}
