import { districtsOfAvonValley } from './content/customers.ts';
import type { Filled } from './fill.ts';

export interface DemoAddress {
  readonly url: string;
  /** Null when the user of the demo has the key already. */
  readonly adminKey: string | null;
}

interface SuggestedCall {
  readonly shows: string;
  readonly key: 'PARTNER' | 'CUSTOMER';
  /** May contain variables of the shell. */
  readonly path: string;
  /** The body of a POST, as text. May contain variables too. */
  readonly body?: string;
}

const suggestedCalls: ReadonlyArray<SuggestedCall> = [
  { shows: 'The partner’s templates', key: 'PARTNER', path: '/v1/templates' },
  { shows: 'Its customers', key: 'PARTNER', path: '/v1/partner/customers' },
  {
    shows: 'An instance that was upgraded twice, with all that it made',
    key: 'PARTNER',
    path: '/v1/instances/$UPGRADED',
  },
  {
    shows: 'What an upgrade would change about one that was left on version 1',
    key: 'PARTNER',
    path: '/v1/instances/$OLD/upgrade-preview?targetTemplateVersionId=$RECEPTION_3',
  },
  { shows: 'A customer’s key is kept from them', key: 'CUSTOMER', path: '/v1/templates' },
  {
    shows: 'It sees its own instance, and which flow it changed by hand: drifted',
    key: 'CUSTOMER',
    path: '/v1/instances/$CHANGED',
  },
  {
    shows: 'An upgrade that is to spare such changes is refused',
    key: 'PARTNER',
    path: '/v1/instances/$CHANGED/upgrade',
    body: '{"targetTemplateVersionId": "$RECEPTION_3", "onDrift": "reject"}',
  },
  {
    shows: 'The instance whose upgrade was undone: lastOperation says why',
    key: 'PARTNER',
    path: '/v1/instances/$UNDONE',
  },
  {
    shows: 'Fix that with a shorter value, then read the instance again',
    key: 'PARTNER',
    path: '/v1/instances/$UNDONE/upgrade',
    body: `{"targetTemplateVersionId": "$TRACKER_3", "newFieldValues": {"served_postcodes": "${districtsOfAvonValley}"}}`,
  },
];

/** Shell commands that work when they are pasted. */
export function whatNext({ url, adminKey }: DemoAddress, filled: Filled): string {
  const variables = {
    URL: url,
    ...(adminKey === null ? {} : { ADMIN: adminKey }),
    PARTNER: filled.partner.secret,
    CUSTOMER: filled.customerKey,
    UPGRADED: filled.upgraded,
    OLD: filled.notUpgraded,
    CHANGED: filled.changedByHand,
    UNDONE: filled.undone,
    RECEPTION_3: filled.newestReception,
    TRACKER_3: filled.newestTracker,
  };
  return [
    'Look around from another terminal. Paste this first; the keys are shown this once:',
    '',
    ...Object.entries(variables).map(([name, value]) => `  ${name}=${value}`),
    ...suggestedCalls.flatMap((look) => ['', look.shows, `  ${callOf(look)}`]),
  ].join('\n');
}

function callOf({ key, path, body }: SuggestedCall): string {
  const call = `curl -sS -w "\\n" -H "Authorization: Bearer $${key}" "$URL${path}"`;
  if (body === undefined) return call;
  return `${call} -H "Content-Type: application/json" -d "${body.replaceAll('"', '\\"')}"`;
}
