import type { Entity } from '#domain/shared/entity.ts';
import { newEvent } from '#domain/shared/event.ts';

export interface NamesEvents {
  readonly NamesSet: { readonly names: string };
}

/** An entity whose state is a list of names. Each decision extends the list that it sees, so the state shows what it saw. */
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

/** The origin of events that a test writes itself. */
export const origin = {
  actor: { keyId: 'ckeyadmin0000000', keyType: 'admin' },
  requestId: 'request',
  correlationId: 'correlation',
  causationId: 'cause',
};
