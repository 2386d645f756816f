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

/**
 * Reads a body that must be a JSON object, in slices, with a turn of the event loop between two slices.
 * @param wanted the members to find
 * @param maxValues the most values in the body
 */
export async function readJsonRequest(
  bytes: Buffer,
  wanted: WantedNames,
  maxValues: number,
): Promise<E.Either<Failure, JsonRequest>> {
  return readMembers(bytes, new MemberCollector(bytes, wanted), maxValues);
}

/**
 * Reads a body that must be a JSON object with a listener that collects members.
 * @param members which the listener fills
 */
export async function readMembers(
  bytes: Buffer,
  members: MemberCollector,
  maxValues: number,
  listener: JsonListener = members,
): Promise<E.Either<Failure, JsonRequest>> {
  const values = await scanJsonObject(bytes, maxValues, listener);
  if (E.isLeft(values)) return values;
  if (members.repeated === null) return E.right({ bytes, members, values: values.right });
  const message = `comes too often: the members that the gateway reads may come ${maxFoundMembers} times in all`;
  return E.left(invalidInput([{ pointer: `/${members.repeated}`, message }]));
}
