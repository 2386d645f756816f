import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What a member of a request may be: `any`, a primitive type, the name of a type, or one of these forms. */
export type Shape =
  | string
  | { readonly is: string | number | boolean }
  | { readonly list: Shape }
  | { readonly map: Shape }
  | { readonly members: Members }
  | { readonly oneOf: ReadonlyArray<Shape> };

/** The members of an object, in order. The name of an optional one ends with `?`. */
export type Members = Readonly<Record<string, Shape>>;

/** The types of a protocol's requests in an SDK. */
export interface RequestTypes {
  readonly sdk: string;
  readonly version: string;
  /** The name of the type of a whole request. */
  readonly request: string;
  readonly types: Readonly<Record<string, Members>>;
}

/** The types of requests of each protocol. */
export type RequestMembers = Readonly<Record<string, RequestTypes>>;

/** What `npm run request-members` writes. */
export const requestMembersFile = join(import.meta.dirname, '../../fixtures/request-members.json');

/** The members of all types of requests that the fixture holds. */
export function readRequestMembers(): RequestMembers {
  return JSON.parse(readFileSync(requestMembersFile, 'utf8'));
}
