import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RequestTypes, readSdkRequests } from './sdk-requests.ts';

/** The types of requests of each protocol. */
export type RequestMembers = Readonly<Record<string, RequestTypes>>;

const file = join(import.meta.dirname, '../../fixtures/request-members.json');

/** The members of all types of requests that the fixture holds. */
export function readRequestMembers(): RequestMembers {
  return JSON.parse(readFileSync(file, 'utf8'));
}

/** The text of the fixture for the SDKs that are installed. */
export function requestMembersText(): string {
  return textOf(readSdkRequests());
}

export function writeRequestMembers(): void {
  writeFileSync(file, requestMembersText());
}

/** Whether the fixture is that of the SDKs that are installed. */
export function frozenMembersText(): string {
  return readFileSync(file, 'utf8');
}

/** JSON with one line for each member, so that a change of an SDK is easy to read. */
function textOf(protocols: RequestMembers): string {
  return linesOf(protocols, ({ types, ...described }) => {
    const members = linesOf(types, (type) => linesOf(type, (shape) => JSON.stringify(shape)));
    return `{${JSON.stringify(described).slice(1, -1)},"types":${members}}`;
  });
}

function linesOf<Value>(values: Readonly<Record<string, Value>>, write: (value: Value) => string): string {
  const lines = Object.entries(values).map(([name, value]) => `${JSON.stringify(name)}: ${write(value)}`);
  return lines.length === 0 ? '{}' : `{\n${lines.join(',\n')}\n}`;
}
