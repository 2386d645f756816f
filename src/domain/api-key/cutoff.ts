import * as t from 'io-ts';
import type { Entity } from '#domain/shared/entity.ts';

/** The events of the stream that ends secrets of all keys at once. */
export const keyCutoffEvents = {
  /** Every secret of every key that was issued before this time has expired. */
  ApiKeySecretsEnded: t.type({ issuedBefore: t.string }),
};

export type KeyCutoffEvents = { [Type in keyof typeof keyCutoffEvents]: t.TypeOf<(typeof keyCutoffEvents)[Type]> };

/** The latest cutoff: every secret issued before this time has expired. Null without one. */
export interface KeyCutoffState {
  readonly issuedBefore: string | null;
}

/** The only id, because the cutoff concerns all keys. */
export const allKeys = 'all';

/** The entity of the cutoff of all API keys. */
export const keyCutoff: Entity<KeyCutoffState, KeyCutoffEvents> = {
  category: 'keyCutoff',
  initial: { issuedBefore: null },
  streamKey: (id) => id,
  everExisted: () => true,
  isLive: () => true,
  notFound: 'key-not-found',
  evolve: ({ issuedBefore }, { data }) => ({
    issuedBefore: issuedBefore !== null && issuedBefore > data.issuedBefore ? issuedBefore : data.issuedBefore,
  }),
};
