import type { Entity } from '#domain/shared/entity.ts';
import { newEvent } from '#domain/shared/event.ts';

export interface NamesEvents {
  readonly NamesSet: { readonly names: string };
}

/** A list of names, each set by the decision on the one before: what was decided on shows in the state. */
export const names: Entity<string, NamesEvents> = {
  category: 'names',
  initial: '',
  streamKey: (id) => id,
  everExisted: () => true,
  isLive: () => true,
  notFound: 'flow-not-found',
  evolve: (_, { data }) => data.names,
};

export const namesSet = (text: string) => newEvent('NamesSet', { names: text });
