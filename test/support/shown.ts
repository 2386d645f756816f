import type { AnyProjection } from '#read-store/projection.ts';
import type { DocumentValue } from '#read-store/read-store.ts';
import { given } from '#test/support/given-events.ts';
import { recorded, type ToldEvent } from '#test/support/recorded.ts';

/** The documents that a projection makes of streams, each a second apart from its own beginning, one after the other. */
export function shown(
  projection: AnyProjection,
  streams: Readonly<Record<string, ReadonlyArray<ToldEvent>>>,
): Readonly<Record<string, DocumentValue>> {
  const events = Object.entries(streams).flatMap(([stream, told]) => recorded(stream, told));
  return given(...events).project(projection).documents;
}
