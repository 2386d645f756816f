import { randomBytes, randomInt } from 'node:crypto';
import { init } from '@paralleldrive/cuid2';
import { derivedCharacters } from '#domain/shared/derived-characters.ts';
import { suffixLength } from '#domain/shared/entity.ts';
import { secretPrefix } from '#domain/webhook-endpoint/secret.ts';

const base = 36;
const idTail = init({ length: 23 });

/** Ids that are made before the decision, so that deciding stays pure. */
export interface NewIds {
  /** The id of a resource that has its own stream. */
  readonly id: string;
  /** The suffix of an id inside a stream. */
  readonly suffix: string;
  /** The id of a resource that is created together with the first. */
  readonly secondId: string;
}

/** Creates each id at its first use, because ids are expensive and most commands need none. */
export class RandomIds implements NewIds {
  #id: string | null = null;
  #secondId: string | null = null;
  #suffix: string | null = null;

  get id(): string {
    this.#id ??= `c${idTail()}`;
    return this.#id;
  }

  get secondId(): string {
    this.#secondId ??= `c${idTail()}`;
    return this.#secondId;
  }

  get suffix(): string {
    this.#suffix ??= randomSuffix();
    return this.#suffix;
  }
}

/** Derives the ids from a seed, so that a repeated request finds the resources of the first one. */
export function deriveNewIds(seed: string): NewIds {
  const derive = (label: string, length: number) => derivedCharacters(`${label}\n${seed}`, length);
  return { id: `c${derive('id', 23)}`, secondId: `c${derive('second', 23)}`, suffix: derive('suffix', suffixLength) };
}

/**
 * A suffix of 41 bits, from the pool that node:crypto keeps for `randomInt`. A separate call for random bytes costs ten
 * times as much.
 */
function randomSuffix(): string {
  return randomInt(base ** suffixLength)
    .toString(base)
    .padStart(suffixLength, '0');
}

const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789';
const secretLength = 43;
const webhookSecretBytes = 32;

/** `sy_live_` and 43 random letters and digits (256 bits). */
export function generateKey(): string {
  let secret = '';
  for (let index = 0; index < secretLength; index += 1) secret += alphabet[randomInt(alphabet.length)];
  return `sy_live_${secret}`;
}

/** A secret in the form of Standard Webhooks, with 256 bits. */
function generateWebhookSecret(): string {
  return secretPrefix + randomBytes(webhookSecretBytes).toString('base64');
}

/** New secrets, each of which is created at its first use. */
export interface NewSecrets {
  readonly apiKey: string;
  readonly webhookSecret: string;
}

/** Creates secrets only when they are used, because few commands need one. */
export class RandomSecrets implements NewSecrets {
  #apiKey: string | null = null;
  #webhookSecret: string | null = null;

  get apiKey(): string {
    this.#apiKey ??= generateKey();
    return this.#apiKey;
  }

  get webhookSecret(): string {
    this.#webhookSecret ??= generateWebhookSecret();
    return this.#webhookSecret;
  }
}
