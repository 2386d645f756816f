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

/** What was read of a body, or why it is refused: immediately for a small body, later for a large one. */
export type ReadBody<Value> = E.Either<Failure, Value> | Promise<E.Either<Failure, Value>>;

/**
 * Reads a body that must be a JSON object, in slices, with a turn of the event loop between two slices.
 * @param wanted the members to find
 * @param maxValues maximum number of values in the body
 */
export function readJsonRequest(bytes: Buffer, wanted: WantedNames, maxValues: number): ReadBody<JsonRequest> {
  return readMembers(bytes, new MemberCollector(bytes, wanted), maxValues);
}

/**
 * Reads a body that must be a JSON object with a listener that collects members; a small one immediately.
 * @param members which the listener fills
 */
export function readMembers(
  bytes: Buffer,
  members: MemberCollector,
  maxValues: number,
  listener: JsonListener = members,
): ReadBody<JsonRequest> {
  return continueRead(scanJsonObject(bytes, maxValues, listener), (values) => {
    if (members.repeated === null) return E.right({ bytes, members, values });
    const message = `comes too often: the members that the gateway reads may come ${maxFoundMembers} times in all`;
    return E.left(invalidInput([{ pointer: `/${members.repeated}`, message }]));
  });
}

/** Reads on in what was read: immediately if it was read immediately. */
export function continueRead<Value, Next>(
  read: ReadBody<Value>,
  next: (value: Value) => ReadBody<Next>,
): ReadBody<Next> {
  if (read instanceof Promise) return read.then((value) => (E.isLeft(value) ? value : next(value.right)));
  return E.isLeft(read) ? read : next(read.right);
}
