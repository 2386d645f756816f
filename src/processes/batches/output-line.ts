import type { LineAnswer } from '#application/batches/line-calls.ts';
import { derivedCharacters } from '#domain/shared/derived-characters.ts';

/** A finished line, as the output or the error file contains it. */
export interface FinishedLine {
  readonly number: number;
  readonly isError: boolean;
  readonly text: Buffer;
}

/** Makes an answered line, with status and body. A success belongs to the output, any other answer to the errors. */
export function answeredLine(
  batchId: string,
  { number, customId }: { readonly number: number; readonly customId: string },
  { status, requestId, contentType, body }: Omit<LineAnswer, 'kind' | 'release'>,
): FinishedLine {
  const head = JSON.stringify({ id: requestIdOf(batchId, customId), custom_id: customId });
  const response = `{"status_code":${status},"request_id":${JSON.stringify(requestId)},"body":`;
  const text = Buffer.concat([
    Buffer.from(`${head.slice(0, -1)},"response":${response}`),
    bodyOnOneLine(contentType, body),
    Buffer.from('},"error":null}\n'),
  ]);
  return { number, isError: status < 200 || status > 299, text };
}

/** Makes a line without an answer. */
export function unansweredLine(batchId: string, customId: string, error: { code: string; message: string }): Buffer {
  const id = requestIdOf(batchId, customId);
  return Buffer.from(`${JSON.stringify({ id, custom_id: customId, response: null, error })}\n`);
}

/** Returns the custom id of a checked line. */
export function customIdIn(bytes: Buffer | null): string {
  return String((JSON.parse(bytes?.toString('utf8') ?? '{}') as { custom_id?: unknown }).custom_id ?? '');
}

function requestIdOf(batchId: string, customId: string): string {
  return `batch_req_${derivedCharacters(`${batchId}\n${customId}`, 24)}`;
}

/**
 * Keeps JSON as it is, except that line ends, which are only between its values, become blanks. Anything else becomes
 * a JSON string.
 */
function bodyOnOneLine(contentType: string, body: Buffer): Buffer {
  if (!/[/+]json\b/i.test(contentType)) return Buffer.from(JSON.stringify(body.toString('utf8')));
  if (!body.includes(0x0a) && !body.includes(0x0d)) return body;
  return Buffer.from(body.toString('utf8').replace(/[\r\n]+/g, ' '));
}
