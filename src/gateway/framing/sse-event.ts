const lineEnd = /[\r\n]/;

/**
 * Writes an event. A provider may have spread its data over lines, or have line ends in its name, and neither may
 * become lines of the client's stream.
 * @param name left out if it is not one line
 * @param json the JSON text of its data
 */
export function sseEvent(name: string, json: string): string {
  return `${lineEnd.test(name) ? '' : `event: ${name}\n`}data: ${inOneLine(json)}\n\n`;
}

/** A line end is in no JSON string, so those in the text are spaces. */
function inOneLine(json: string): string {
  return lineEnd.test(json) ? json.replaceAll(/[\r\n]/g, ' ') : json;
}

/** Shows a client that the connection works. */
export const waitingComment = sseComment('waiting');

/** A comment, which clients do not see. @param text one line */
export function sseComment(text: string): string {
  return `: ${text}\n\n`;
}
