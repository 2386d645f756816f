import * as E from 'fp-ts/lib/Either.js';
import type { BatchLine, LineFault } from '#application/batches/line-calls.ts';
import type { BatchEvents } from '#domain/batch/events.ts';
import { scanJsonObject } from '#exchange/json-body.ts';
import { lastMember, MemberCollector, scalarMember, wantedNames } from '#gateway/framing/json-members.ts';

const openBrace = 0x7b;
const maxCustomIdCharacters = 512;

const lineNames = wantedNames({ custom_id: [], method: [], url: [], body: [] });

/**
 * Reads a line, whose body is copied unchanged and not checked.
 * @param maxValues in the line
 * @returns the line, or its error
 */
export async function readLine(
  bytes: Buffer,
  endpoint: BatchEvents['BatchCreated']['endpoint'],
  maxValues: number,
): Promise<BatchLine | LineFault> {
  const members = new MemberCollector(bytes, lineNames);
  const scanned = await scanJsonObject(bytes, maxValues, members);
  if (E.isLeft(scanned)) return fault('invalid_json_line', scanned.left.detail.replace('The body', 'The line'));
  const said = (name: string) => scalarMember(bytes, members, name);
  const customId = said('custom_id');
  if (typeof customId !== 'string' || customId === '' || customId.length > maxCustomIdCharacters) {
    return fault(
      'invalid_custom_id',
      `custom_id must be a text of 1 to ${maxCustomIdCharacters} characters.`,
      'custom_id',
    );
  }
  if (said('method') !== 'POST') return fault('invalid_method', 'method must be "POST".', 'method');
  if (said('url') !== endpoint) {
    return fault('mismatched_endpoint', `url must be ${JSON.stringify(endpoint)}, as in the batch.`, 'url');
  }
  const body = lastMember(members, 'body');
  if (body === undefined || bytes[body.valueStart] !== openBrace) {
    return fault('invalid_body', 'body must be a JSON object.', 'body');
  }
  return { customId, body: bytes.subarray(body.valueStart, body.end) };
}

function fault(code: string, message: string, param: string | null = null): LineFault {
  return { code, message, param };
}
