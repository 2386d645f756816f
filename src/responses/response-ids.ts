import { randomUUID } from 'node:crypto';

/** The beginning of the ids of responses. */
const responsePrefix = 'resp_';

/** Makes the id of a response, in OpenAI's form. */
export function newResponseId(): string {
  return responsePrefix + randomUUID().replaceAll('-', '');
}

/** Where an item is that the gateway names. */
export interface ItemPlace {
  readonly responseId: string;
  readonly list: 'input' | 'output';
  readonly index: number;
}

/** What ids of responses may have after their prefix, so that an id with it has at most the 64 characters that OpenAI takes. */
const nameable = /^resp_([0-9A-Za-z]{1,48})$/;
const named = /^[a-z]{2,6}_([0-9A-Za-z]{1,48})_i?\d{1,6}$/;

/**
 * Makes the id of an item. It names its response, so that no index has to.
 * @param prefix the kind of the item: `msg`
 */
export function itemIdOf(prefix: string, { responseId, list, index }: ItemPlace): string {
  const [, name = randomUUID().replaceAll('-', '')] = nameable.exec(responseId) ?? [];
  return `${prefix}_${name}_${list === 'input' ? 'i' : ''}${index}`;
}

/** Returns the id of the response that the id of an item names; null for an id that the gateway has not made. */
export function responseIdNamedBy(itemId: string): string | null {
  const [, name] = named.exec(itemId) ?? [];
  return name === undefined ? null : responsePrefix + name;
}
