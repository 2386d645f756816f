import type * as t from 'io-ts';
import { maxTokensMember } from '#gateway/protocols/target-model.ts';
import { Timeouts } from '#gateway/transport/timeouts.ts';
import { checkedText } from '#shared/codecs/checked.ts';
import { flag, oneOf } from '#shared/codecs/choice.ts';
import { optional, withDefault, withDefaultInput } from '#shared/codecs/default.ts';
import { recordOf, strictObject } from '#shared/codecs/object.ts';
import { text } from '#shared/codecs/text.ts';

/** @param own settings that only some kinds have */
export function providerSettings<Own extends t.Props>(kinds: readonly [string, ...string[]], own: Own) {
  return strictObject({
    kind: oneOf(...kinds),
    baseUrl: optional(checkedText(text({ min: 1, max: 2_000 }), checkBaseUrl)),
    apiKeyEnv: optional(checkedText(text(), (name) => (/^[A-Za-z_]\w*$/.test(name) ? null : 'must name a variable'))),
    /** The header with the key unchanged; by default `authorization`, as a bearer token. */
    apiKeyHeader: optional(checkedText(text(), checkHeaderName)),
    /** Headers that are sent with every call. Secrets belong in `apiKeyEnv`, not here. */
    headers: withDefaultInput(byName(checkedText(text({ max: 2_000 }), checkHeaderValue)), {}),
    anyVoice: withDefault(flag, false),
    ...own,
    /** The member in a translated chat. Default: that of `defaultMaxTokensMember`. */
    maxTokens: optional(maxTokensMember),
    timeouts: withDefaultInput(Timeouts, {}),
  });
}

export type ProviderSettings = t.TypeOf<ReturnType<typeof providerSettings<Record<never, t.Mixed>>>>;

/** Values by names that the operator chooses. */
export function byName<C extends t.Mixed>(codec: C) {
  return recordOf(codec, checkName);
}

const maxNameLength = 200;

/** Checks a name, which appears in headers, metrics and logs. */
function checkName(name: string): string | null {
  if (name === '' || name.length > maxNameLength) return `must have a name of 1 to ${maxNameLength} characters`;
  return /^[\x21-\x7e]+$/.test(name) ? null : 'must have a name of visible ASCII characters, without blanks';
}

function checkBaseUrl(value: string): string | null {
  const url = URL.parse(value);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) return 'must be an http or https URL';
  if (url.username !== '' || url.password !== '') return 'must hold no user or password: use apiKeyEnv';
  return url.hash === '' ? null : 'must have no fragment';
}

/** Headers that are set by the gateway, or by HTTP itself. */
const ownHeaders = new Set(
  (
    'host connection keep-alive proxy-connection transfer-encoding te trailer upgrade expect content-length ' +
    'content-type content-encoding accept accept-encoding user-agent'
  ).split(' '),
);

export function checkHeaderName(value: string): string | null {
  if (!/^[!#$%&'*+.^`|~\w-]{1,100}$/.test(value)) return 'must be the name of a header';
  return ownHeaders.has(value.toLowerCase()) ? 'is written by the gateway itself' : null;
}

export function checkHeaderValue(value: string): string | null {
  return /^[\x20-\x7e]*$/.test(value) ? null : 'must be visible ASCII';
}
