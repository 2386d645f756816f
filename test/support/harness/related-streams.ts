import type { RelatedStateLoader } from '#application/commands/command.ts';
import type { Entity } from '#domain/shared/entity.ts';
import type { Tenant } from '#domain/shared/tenancy.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { tenants } from '#test/support/events/tenants.ts';
import { foldTold, type ToldEvent } from './recorded-events.ts';

/** A stream that a loader may find. */
export interface RelatedStream {
  readonly events: ReadonlyArray<ToldEvent>;
  /** Absent: the tests' first project. */
  readonly tenant?: Tenant;
}

/** What a loader of related state works with, and what it loaded. */
export interface RelatedStreams extends Pick<RelatedStateLoader, 'load' | 'dataAt'> {
  /** The streams that were loaded, in order. */
  readonly loaded: ReadonlyArray<string>;
}

/**
 * The harness for what a command loads of other streams before it decides: `load` and `dataAt` over the streams given,
 * by name (`flow-c123456`). A stream that is not given is empty.
 */
export function givenStreams(streams: Readonly<Record<string, RelatedStream>>): RelatedStreams {
  const loaded: string[] = [];
  const nameOf = <State, Events>({ category, streamKey }: Entity<State, Events>, id: string) =>
    `${category}-${streamKey(id)}`;
  return {
    loaded,
    load: async <State, Events>(entity: Entity<State, Events>, id: string) => {
      const name = nameOf(entity, id);
      loaded.push(name);
      const { events = [], tenant = tenants.project } = streams[name] ?? {};
      return { state: foldTold(entity, events).state, tenant: events.length === 0 ? null : tenant };
    },
    dataAt: async <State, Events>(entity: Entity<State, Events>, id: string, revision: number) => {
      const event = streams[nameOf(entity, id)]?.events[revision];
      if (event === undefined) throw new Error(`${nameOf(entity, id)} has no event ${revision}`);
      return event.data as JsonObject;
    },
  };
}
