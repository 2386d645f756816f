import { hash } from 'node:crypto';
import codes from '@eventstore/db-client/generated/code_pb.js';
import gossip from '@eventstore/db-client/generated/gossip_pb.js';
import shared from '@eventstore/db-client/generated/shared_pb.js';
import type { Json, JsonMessage } from './recordings.ts';

/** The methods of a stub's message, by name. */
type Reflected = Record<string, (...values: unknown[]) => unknown>;

/** The recordings omit bytes longer than this. */
const omittedAbove = 3_000;

const enums: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  Code: codes.Code as unknown as Record<string, number>,
  State: gossip.MemberInfo.VNodeState as unknown as Record<string, number>,
};

/**
 * Converts a message to the form of the recordings: proto3 JSON without unset members of a oneof and unset sub-messages.
 * It calls the stubs' own methods, so that no member is missed.
 */
export function messageJson(message: object): JsonMessage {
  const methods = message as Reflected;
  const json: JsonMessage = {};
  for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(message))) {
    const [, field] = /^get([A-Z][A-Za-z0-9]*)$/.exec(name) ?? [];
    if (field === undefined || field.endsWith('Case')) continue;
    if (methods[`has${field}`]?.call(message) === false) continue;
    const key = field.replace(/(List|Map)$/, '');
    json[`${key[0]?.toLowerCase()}${key.slice(1)}`] = fieldJson(methods, field);
  }
  return json;
}

function fieldJson(methods: Reflected, field: string): Json {
  const asBytes = methods[`get${field}_asU8`];
  if (asBytes !== undefined) return bytesJson(asBytes.call(methods) as Uint8Array);
  const value = methods[`get${field}`]?.call(methods);
  if (field.endsWith('Map')) return mapJson(value as { forEach(each: (value: string, key: string) => void): void });
  if (Array.isArray(value)) return value.map((item) => (isMessage(item) ? messageJson(item) : (item as Json)));
  if (isAny(value)) return anyJson(value);
  if (isMessage(value)) return messageJson(value);
  const names = enums[field];
  if (names === undefined) return value as Json;
  return Object.keys(names).find((name) => names[name] === value) ?? (value as Json);
}

function bytesJson(bytes: Uint8Array): Json {
  if (bytes.length <= omittedAbove) return Buffer.from(bytes).toString('base64');
  return { $omitted: { bytes: bytes.length, sha256: hash('sha256', bytes) } };
}

function mapJson(map: { forEach(each: (value: string, key: string) => void): void }): JsonMessage {
  const json: JsonMessage = {};
  map.forEach((value, key) => {
    json[key] = value;
  });
  return json;
}

interface AnyMessage {
  getTypeName(): string;
  getValue_asU8(): Uint8Array;
}

function isAny(value: unknown): value is AnyMessage {
  return isMessage(value) && 'getTypeName' in value;
}

function isMessage(value: unknown): value is object {
  return typeof value === 'object' && value !== null && 'serializeBinary' in value;
}

function anyJson(any: AnyMessage): JsonMessage {
  const type = any.getTypeName();
  const name = type.split('.').at(-1) as keyof typeof shared;
  const details = shared[name].deserializeBinary(any.getValue_asU8());
  return { '@type': `type.googleapis.com/${type}`, ...messageJson(details) };
}
