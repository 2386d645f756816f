import * as E from 'fp-ts/lib/Either.js';
import type { Failure } from '#domain/shared/failure.ts';
import { invalidInput } from '#exchange/input-errors.ts';
import { scanJsonObject } from '#exchange/json-body.ts';
import type { JsonListener } from '#shared/json/json-scanner.ts';
import { MemberCollector, type Members, maxFoundMembers, type WantedNames } from './json-members.ts';

/** A JSON body: its bytes, and the offsets of the members that the gateway reads. It is never parsed as a whole. */
export interface JsonRequest {
  readonly bytes: Buffer;
  readonly members: Members;
  /** The number of values in it. */
  readonly values: number;
}

/** A request that was read, or why it cannot be. */
type ReadRequest = E.Either<Failure, JsonRequest>;

/**
 * Reads a body that must be a JSON object, in slices, with a turn of the event loop between two slices.
 * @param wanted the members to find
 * @param maxValues the most values in the body
 */
export function readJsonRequest(
  bytes: Buffer,
  wanted: WantedNames,
  maxValues: number,
): ReadRequest | Promise<ReadRequest> {
  return readMembers(bytes, new MemberCollector(bytes, wanted), maxValues);
}

/**
 * Reads a body that must be a JSON object with a listener that collects members; a small one at once.
 * @param members which the listener fills
 */
export function readMembers(
  bytes: Buffer,
  members: MemberCollector,
  maxValues: number,
  listener: JsonListener = members,
): ReadRequest | Promise<ReadRequest> {
  const requestOf = (values: E.Either<Failure, number>): ReadRequest => {
    if (E.isLeft(values)) return values;
    if (members.repeated === null) return E.right({ bytes, members, values: values.right });
    const message = `comes too often: the members that the gateway reads may come ${maxFoundMembers} times in all`;
    return E.left(invalidInput([{ pointer: `/${members.repeated}`, message }]));
  };
  const scanned = scanJsonObject(bytes, maxValues, listener);
  return scanned instanceof Promise ? scanned.then(requestOf) : requestOf(scanned);
}
