import * as E from 'fp-ts/lib/Either.js';
import { lastMember, readJsonRequest, scalarMember, wantedNames } from '#gateway/framing/json-members.ts';
import { applyEdits, asciiJson, editsOf } from '#gateway/framing/splice.ts';

const names = wantedNames({ type: [], id: [], status: [], role: [], content: [] });

/**
 * The item with a type and its id in the list, and the text of a message as a part. Every other byte is as it is
 * stored.
 */
export async function listedItem(item: Buffer, id: string | null): Promise<Buffer> {
  const read = await readJsonRequest(item, names, Number.POSITIVE_INFINITY);
  if (E.isLeft(read)) return item;
  const { members } = read.right;
  const said = (name: string) => scalarMember(item, members, name);
  const [type, role, content] = [said('type'), said('role'), lastMember(members, 'content')];
  const isMessage = (type === undefined || type === null || type === 'message') && typeof role === 'string';
  const replace: Record<string, string> = {};
  if (type === undefined || type === null) replace.type = '"message"';
  if (id !== null && said('id') !== id) replace.id = asciiJson(id);
  if (isMessage && content !== undefined && typeof said('content') === 'string') {
    replace.status = '"completed"';
    replace.content = partOf(role, item.toString('latin1', content.valueStart, content.end));
  }
  return applyEdits(item, editsOf(members, { replace, add: Object.keys(replace) }));
}

/** @param text JSON, each byte as a character */
function partOf(role: string, text: string): string {
  return role === 'assistant'
    ? `[{"type":"output_text","annotations":[],"text":${text}}]`
    : `[{"type":"input_text","text":${text}}]`;
}

/** An item that only names one that is not found any more. */
export function listedReference(id: string | null): Buffer {
  return Buffer.from(JSON.stringify({ type: 'item_reference', id }));
}
