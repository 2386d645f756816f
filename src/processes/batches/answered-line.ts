import type { LineAnswer } from '#application/batches/line-calls.ts';
import { derivedCharacters } from '#domain/shared/derived-characters.ts';
import { turn } from '#exchange/turns.ts';
import { currentWorkOwner } from '#shared/async/fair-queue.ts';

type Answer = Omit<LineAnswer, 'kind' | 'release'>;

/** Maximum size of an answer that becomes a JSON string. */
const maxTextBytes = 4 * 1024 * 1024;

/** What a byte can become in a JSON string: a control character takes an escape. */
const maxEscapedBytes = 6;

/** The maximum size of the line, counted before it is made. */
export function maxBytesOnLine(answer: Pick<Answer, 'contentType' | 'body'>): number {
  const { body, contentType } = answer;
  if (isJson(contentType)) return body.length;
  return fitsOnLine(answer) ? maxEscapedBytes * body.length : textTooLarge.body.length;
}

/** Makes the line. A success belongs to the output, any other answer to the errors. */
export async function answeredLine(
  batchId: string,
  customId: string,
  answer: Answer,
): Promise<{ readonly isError: boolean; readonly text: Buffer }> {
  const { status, requestId, contentType, body } = fitsOnLine(answer) ? answer : { ...answer, ...textTooLarge };
  const head = JSON.stringify({ id: requestIdOf(batchId, customId), custom_id: customId });
  const response = `{"status_code":${status},"request_id":${JSON.stringify(requestId)},"body":`;
  const before = Buffer.from(`${head.slice(0, -1)},"response":${response}`);
  const text = Buffer.concat([before, bodyText(contentType, body), Buffer.from('},"error":null}\n')]);
  await blankLineEnds(text.subarray(0, -1));
  return { isError: status < 200 || status > 299, text };
}

export function unansweredLine(batchId: string, customId: string, error: { code: string; message: string }): Buffer {
  const id = requestIdOf(batchId, customId);
  return Buffer.from(`${JSON.stringify({ id, custom_id: customId, response: null, error })}\n`);
}

function requestIdOf(batchId: string, customId: string): string {
  return `batch_req_${derivedCharacters(`${batchId}\n${customId}`, 24)}`;
}

/** Keeps JSON as it is. Anything else becomes a JSON string. */
function bodyText(contentType: string, body: Buffer): Buffer {
  return isJson(contentType) ? body : Buffer.from(JSON.stringify(body.toString('utf8')));
}

function isJson(contentType: string): boolean {
  return /[/+]json\b/i.test(contentType);
}

function fitsOnLine({ contentType, body }: Pick<Answer, 'contentType' | 'body'>): boolean {
  return isJson(contentType) || body.length <= maxTextBytes;
}

const textTooLarge = {
  status: 502,
  contentType: 'application/json',
  body: Buffer.from(
    JSON.stringify({
      error: {
        message: `The answer is not JSON and has more than ${maxTextBytes} bytes.`,
        type: 'server_error',
        param: null,
        code: 'provider_too_large',
      },
    }),
  ),
};

const lineFeed = 0x0a;
const carriageReturn = 0x0d;
const blank = 0x20;
const sliceBytes = 1024 * 1024;

/**
 * Replaces line ends by blanks, in place. In JSON they are only between its values. Other work is done between two
 * slices.
 */
async function blankLineEnds(text: Buffer): Promise<void> {
  for (let start = 0; start < text.length; start += sliceBytes) {
    if (start > 0) await turn(currentWorkOwner(), 'answer', sliceBytes);
    const slice = text.subarray(start, start + sliceBytes);
    if (!slice.includes(lineFeed) && !slice.includes(carriageReturn)) continue;
    for (let at = 0; at < slice.length; at += 1) {
      if (slice[at] === lineFeed || slice[at] === carriageReturn) slice[at] = blank;
    }
  }
}
