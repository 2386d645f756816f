import type { RequestMembers } from '../../gateway/support/request-members.ts';
import { readSdkRequests } from './sdk-requests.ts';

/** The text of the fixture for the SDKs that are installed. */
export function requestMembersText(): string {
  return textOf(readSdkRequests());
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
