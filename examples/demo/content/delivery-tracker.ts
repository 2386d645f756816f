import type { DemoTemplate } from './demo-template.ts';

const track = {
  key: 'track',
  name: 'Where is my parcel?',
  flowType: 'graph',
  flowSchema: {
    start: 'number',
    nodes: {
      number: { ask: 'What is your parcel’s number?', remember: 'number', next: 'look' },
      look: { call: 'parcel.find', with: 'number', next: { found: 'tell', unknown: 'again' } },
      tell: { say: 'Your parcel is {status}. It comes on {day}.' },
      again: { ask: 'I cannot find that number. Is it on the card of {{fields.company_name}}?', next: 'number' },
    },
  },
} as const;

const redeliver = {
  key: 'redeliver',
  name: 'Bring it again',
  flowType: 'graph',
  flowSchema: {
    start: 'day',
    days: '{{fields.redelivery_days}}',
    nodes: {
      day: { ask: 'Which day shall we come again?', remember: 'day', next: 'done' },
      done: { call: 'parcel.redeliver', say: '{{fields.company_name}} comes again on {day}.' },
    },
  },
} as const;

/**
 * Version 3 gives every step the served postcodes. That works for a few districts, but a company that pastes all of its
 * postcodes gets a flow that is too large to be stored.
 */
const served = 'You speak for {{fields.company_name}}, which delivers to: {{fields.served_postcodes}}.';

const trackWhereServed = {
  ...track,
  flowSchema: {
    start: 'number',
    nodes: {
      number: { knows: served, ask: 'What is your parcel’s number?', remember: 'number', next: 'look' },
      look: { knows: served, call: 'parcel.find', with: 'number', next: { found: 'tell', unknown: 'again' } },
      tell: { knows: served, say: 'Your parcel is {status}. It comes on {day}.', next: 'other' },
      again: {
        knows: served,
        ask: 'I cannot find that number. Is it on our card?',
        next: { yes: 'number', no: 'where' },
      },
      where: { knows: served, ask: 'To which postcode was it sent?', remember: 'postcode', next: 'check' },
      check: { knows: served, call: 'postcode.served', with: 'postcode', next: { yes: 'person', no: 'sorry' } },
      sorry: { knows: served, say: 'Another company delivers to {postcode}. Please ask the sender.' },
      other: { knows: served, ask: 'Is there anything else?', next: { yes: 'number', no: 'bye' } },
      person: { knows: served, transfer: 'dispatch' },
      bye: { say: 'Goodbye.' },
    },
  },
} as const;

const area = {
  key: 'area',
  name: 'Do you deliver here?',
  flowType: 'simple',
  flowSchema: { knows: served, ask: 'Which postcode is it?', remember: 'postcode' },
} as const;

const profile = {
  name: 'Dispatcher',
  reasoningMode: 'fast',
  supportedInputLanguages: ['en'],
  outputVoiceId: 'narrator',
} as const;

const helpLine = { key: 'help', label: 'Help line', description: 'The number on the card that the driver leaves' };

const firstFields = [{ key: 'company_name', label: 'Name of the company', type: 'string', required: true }] as const;

const secondFields = [
  ...firstFields,
  { key: 'redelivery_days', label: 'Days a parcel is kept', type: 'number', required: false, defaultValue: '7' },
] as const;

export const deliveryTracker: DemoTemplate = {
  name: 'Delivery tracker',
  description: 'Answers callers who ask where their parcels are, and arranges another delivery',
  versions: [
    {
      tag: 'first',
      payload: { flows: [track], agentProfile: profile, phoneNumberRequirements: [helpLine] },
      fieldsSchema: firstFields,
    },
    {
      tag: 'second try',
      payload: { flows: [track, redeliver], agentProfile: profile, phoneNumberRequirements: [helpLine] },
      fieldsSchema: secondFields,
    },
    {
      tag: 'service area',
      payload: {
        flows: [trackWhereServed, redeliver, area],
        agentProfile: { ...profile, supportedInputLanguages: ['en', 'cy'] },
        knowledgeBases: [{ key: 'terms', name: 'Terms of delivery' }],
        phoneNumberRequirements: [helpLine],
      },
      fieldsSchema: [
        ...secondFields,
        {
          key: 'served_postcodes',
          label: 'Postcodes served',
          type: 'string',
          required: true,
          helpText: 'Districts are enough: “BS1 to BS16, BA1 and BA2”',
        },
      ],
    },
  ],
};
