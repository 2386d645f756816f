import type { DemoTemplate } from './demo-template.ts';

const greeting = {
  key: 'greeting',
  name: 'Greeting',
  flowType: 'simple',
  flowSchema: {
    say: 'Good day, this is {{fields.practice_name}}. How can I help you?',
    listenFor: ['appointment', 'opening hours', 'a person'],
    otherwise: 'Let me put you through to reception.',
  },
} as const;

const openingHours = {
  key: 'opening-hours',
  name: 'Opening hours',
  flowType: 'simple',
  flowSchema: { say: 'We are open {{fields.opening_hours}}. Shall I book a visit for you?' },
} as const;

const booking = {
  key: 'booking',
  name: 'Book a visit',
  flowType: 'graph',
  flowSchema: {
    start: 'known',
    minutes: '{{fields.minutes_per_visit}}',
    nodes: {
      known: { ask: 'Have you been to us before?', next: { yes: 'day', no: 'new' } },
      new: { takes: '{{fields.takes_new_patients}}', next: { true: 'day', false: 'sorry' } },
      sorry: { say: '{{fields.practice_name}} takes no new patients just now. I am sorry.' },
      day: { ask: 'Which day suits you?', remember: 'day', next: 'confirm' },
      confirm: { say: 'You are booked at {{fields.practice_name}}. See you then!' },
    },
  },
} as const;

/** From version 2 on, a caller in pain hears the emergency number immediately. */
const emergency = {
  key: 'emergency',
  name: 'Emergency',
  flowType: 'simple',
  flowSchema: {
    say: 'If you are in pain, please ring {{fields.emergency_number}} now. Somebody is there day and night.',
  },
} as const;

const greetingWithEmergency = {
  ...greeting,
  flowSchema: { ...greeting.flowSchema, listenFor: ['pain', ...greeting.flowSchema.listenFor] },
};

const recall = {
  key: 'recall',
  name: 'Check-up reminder',
  flowType: 'simple',
  flowSchema: {
    months: '{{fields.recall_months}}',
    say: 'Hello, this is {{fields.practice_name}}. Your last check-up was {{fields.recall_months}} months ago. Shall we find a day?',
  },
} as const;

const profile = {
  name: 'Receptionist',
  reasoningMode: 'balanced',
  supportedInputLanguages: ['en'],
  outputVoiceId: 'narrator',
} as const;

const knowledgeBases = [
  { key: 'treatments', name: 'Treatments and prices', description: 'What the practice does, and what it costs' },
];

const mainLine = {
  key: 'main',
  label: 'Main line',
  description: 'The number that patients ring',
};

const firstFields = [
  { key: 'practice_name', label: 'Name of the practice', type: 'string', required: true },
  {
    key: 'opening_hours',
    label: 'Opening hours',
    type: 'string',
    required: true,
    helpText: 'As they are read out: “Monday to Friday from eight to five”',
  },
  { key: 'minutes_per_visit', label: 'Minutes for a visit', type: 'number', required: false, defaultValue: '30' },
  { key: 'takes_new_patients', label: 'Takes new patients', type: 'boolean', required: false, defaultValue: 'true' },
] as const;

const secondFields = [
  ...firstFields,
  { key: 'emergency_number', label: 'Number for emergencies', type: 'string', required: true },
] as const;

export const dentalReception: DemoTemplate = {
  name: 'Dental reception',
  description: 'Answers a dental practice’s telephone: opening hours, visits, emergencies, reminders',
  versions: [
    {
      tag: 'first',
      payload: {
        flows: [greeting, openingHours, booking],
        agentProfile: profile,
        knowledgeBases,
        phoneNumberRequirements: [mainLine],
      },
      fieldsSchema: firstFields,
    },
    {
      tag: 'emergencies',
      payload: {
        flows: [greetingWithEmergency, openingHours, booking, emergency],
        agentProfile: { ...profile, supportedInputLanguages: ['en', 'de', 'fr'] },
        knowledgeBases,
        phoneNumberRequirements: [mainLine],
      },
      fieldsSchema: secondFields,
    },
    {
      // The knowledge base answers the opening hours from here on, so their flow is removed.
      tag: 'reminders',
      payload: {
        flows: [greetingWithEmergency, booking, emergency, recall],
        agentProfile: { ...profile, reasoningMode: 'smart', supportedInputLanguages: ['en', 'de', 'fr'] },
        knowledgeBases: [
          ...knowledgeBases,
          { key: 'practice', name: 'The practice', description: 'Hours, team, way there' },
        ],
        phoneNumberRequirements: [mainLine],
      },
      fieldsSchema: [
        ...secondFields,
        {
          key: 'recall_months',
          label: 'Months between check-ups',
          type: 'number',
          required: false,
          defaultValue: '6',
        },
      ],
    },
  ],
};
