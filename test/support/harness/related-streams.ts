import type { RelatedStateLoader } from '#application/commands/command.ts';
import type { Tenant } from '#domain/shared/access.ts';
import type { Entity } from '#domain/shared/entity.ts';
import type { JsonObject } from '#shared/json/json.ts';
import { tenants } from '#test/support/events/tenants.ts';
import { type ExampleEvent, foldEvents } from './recorded-events.ts';

/** A stream that a loader can load. */
export interface RelatedStream {
  readonly events: ReadonlyArray<ExampleEvent>;
  /** Default: the first example project. */
  readonly tenant?: Tenant;
}

/** The means of a loader of related state, and what it loaded. */
export interface RelatedStreams extends Pick<RelatedStateLoader, 'load' | 'dataAt'> {
  /** The streams that were loaded, in order. */
  readonly loaded: ReadonlyArray<string>;
}

/**
 * The harness for loaders of related state: `load` and `dataAt` over the given streams, by name (`flow-c123456`). Any
 * other stream is empty.
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
      return { state: foldEvents(entity, events).state, tenant: events.length === 0 ? null : tenant };
    },
    dataAt: async <State, Events>(entity: Entity<State, Events>, id: string, revision: number) => {
      const event = streams[nameOf(entity, id)]?.events[revision];
      if (event === undefined) throw new Error(`${nameOf(entity, id)} has no event ${revision}`);
      return event.data as JsonObject;
    },
  };
}
