import type { LoadedStream } from '#application/commands/command.ts';
import type { StreamWriter } from '#application/commands/stream-writer.ts';
import type { Entity } from '#domain/shared/entity.ts';
import type { JsonObject } from '#shared/json/json.ts';

/**
 * Another stream's current state, for a decision.
 * @throws UnavailableError
 */
export async function loadOther<State, Events>(
  writer: StreamWriter,
  entity: Entity<State, Events>,
  id: string,
): Promise<LoadedStream<State>> {
  const { state, tenant } = await writer.load(entity, id);
  return { state, tenant };
}

/**
 * The data of one event of a stream.
 * @throws UnavailableError
 */
export async function dataOf<State, Events>(
  writer: StreamWriter,
  entity: Entity<State, Events>,
  id: string,
  revision: number,
): Promise<JsonObject> {
  const { data } = await writer.eventAt(entity, id, revision);
  return data;
}
