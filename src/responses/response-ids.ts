import { createHash, randomUUID } from 'node:crypto';

const responsePrefix = 'resp_';

export function newResponseId(): string {
  return responsePrefix + randomUUID().replaceAll('-', '');
}

export interface ItemPlace {
  readonly responseId: string;
  readonly list: 'input' | 'output';
  readonly index: number;
}

/**
 * What ids of responses may have after their prefix: OpenAI's have 50 characters, and an id of an item with them has at
 * most the 64 that OpenAI accepts.
 */
const nameable = /^resp_([0-9A-Za-z]{1,50})$/;
const named = /^[a-z]{2,6}_([0-9A-Za-z]{1,50})_i?\d{1,6}$/;

/**
 * The same each time. It names its response, so that no index has to.
 * @param prefix the kind of the item: `msg`
 */
export function itemIdOf(prefix: string, { responseId, list, index }: ItemPlace): string {
  const [, name = hashOf(responseId)] = nameable.exec(responseId) ?? [];
  return `${prefix}_${name}_${list === 'input' ? 'i' : ''}${index}`;
}

export function itemPrefixOf(type: string): string {
  return prefixes.get(type) ?? 'item';
}

const prefixes = new Map([
  ['message', 'msg'],
  ['reasoning', 'rs'],
  ['function_call', 'fc'],
  ['function_call_output', 'fco'],
  ['custom_tool_call', 'ctc'],
  ['custom_tool_call_output', 'ctco'],
  ['tool_search_call', 'tsc'],
  ['tool_search_output', 'tso'],
  ['local_shell_call', 'lsh'],
  ['local_shell_call_output', 'lsho'],
  ['shell_call', 'sh'],
  ['shell_call_output', 'sho'],
  ['apply_patch_call', 'apc'],
  ['apply_patch_call_output', 'apco'],
  ['additional_tools', 'at'],
  ['compaction', 'cmp'],
]);

/** The id by which items name a response whose own id does not fit into theirs; null if it does. */
export function aliasOf(responseId: string): string | null {
  return nameable.test(responseId) ? null : responsePrefix + hashOf(responseId);
}

function hashOf(responseId: string): string {
  return createHash('sha256').update(responseId).digest('hex').slice(0, 32);
}

/** The id of the response, also for an alias. Null for an id that the gateway has not made. */
export function responseIdNamedBy(itemId: string): string | null {
  const [, name] = named.exec(itemId) ?? [];
  return name === undefined ? null : responsePrefix + name;
}
