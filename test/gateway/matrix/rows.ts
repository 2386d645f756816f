import type { Act, Asked, Question, Said, SaidCall, Tool } from './exchange.ts';
import type { Cell } from './play.ts';

/** A case of the matrix: the same in every client protocol, at every provider protocol, whole and streamed. */
export interface Row {
  /** A part of a sentence: `gets …`. */
  readonly what: string;
  readonly question: Question;
  /** What the provider does with each request. */
  readonly acts: ReadonlyArray<Act>;
  /** What the user says before the results of tools. Default: nothing. */
  readonly saidBeforeResults?: string;
  /** Whether a cell can have it. Default: each. */
  readonly fits?: (cell: Cell) => boolean;
}

const hours: Tool = {
  name: 'opening_hours',
  description: 'When it is open on a day',
  schema: { type: 'object', properties: { day: { type: 'string' } }, required: ['day'] },
};

const rooms: Tool = {
  name: 'free_rooms',
  description: 'Which rooms are free',
  schema: { type: 'object', properties: { from: { type: 'string' }, count: { type: 'integer' } }, required: ['from'] },
};

/** Two names that differ at their ends alone. */
const [longHours, longRooms] = [longNamed(hours), longNamed(rooms)];

function longNamed(tool: Tool): Tool {
  return { ...tool, name: `tools_of_${'the_'.repeat(20)}${tool.name}` };
}

const text = (said: string): Asked => ({ kind: 'text', text: said });

function asking(more: Partial<Question> = {}): Question {
  return { system: 'Be brief.', content: [text('When do you open?')], tools: [], schema: null, thinks: false, ...more };
}

function saying(more: Partial<Said>): Act {
  const reason = more.calls === undefined ? 'stop' : 'tool-calls';
  return { kind: 'says', said: { thought: '', text: '', calls: [], reason, ...more } };
}

const callOf = (id: string, name: string, given: unknown): SaidCall => ({ id, name, given: JSON.stringify(given) });

/** Natively all passes as it came. */
function isTranslated({ client, provider }: Cell): boolean {
  return client.protocol !== provider.protocol;
}

/** The second one is cut off. */
const cutCalls: ReadonlyArray<SaidCall> = [
  callOf('call_1', 'opening_hours', { day: 'Monday' }),
  { id: 'call_2', name: 'free_rooms', given: '{"from":"9","cou' },
];

/** A point, in the format PNG. */
const png = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGNgYGD4DwABBAEAX+XDSwAAAABJRU5ErkJggg==';
const pdf = Buffer.from('%PDF-1.4\n1 0 obj << /Type /Page >> endobj\n%%EOF').toString('base64');

export const rows: ReadonlyArray<Row> = [
  {
    what: 'a text',
    question: asking(),
    acts: [saying({ text: 'Monday 9–17 ✓' })],
  },
  {
    what: 'two calls of tools in one answer, and an answer to their results',
    question: asking({ tools: [hours, rooms] }),
    acts: [
      saying({
        text: 'Let me look.',
        calls: [
          callOf('call_1', 'opening_hours', { day: 'Monday' }),
          callOf('call_2', 'free_rooms', { from: '9', count: 2 }),
        ],
      }),
      saying({ text: 'Open ✓' }),
    ],
  },
  {
    what: 'calls of tools whose names are too long for their provider, by the names that it gave them',
    question: asking({ tools: [longHours, longRooms] }),
    fits: isTranslated,
    acts: [
      saying({
        calls: [callOf('call_1', longHours.name, { day: 'Monday' }), callOf('call_2', longRooms.name, { from: '9' })],
      }),
      saying({ text: 'Open ✓' }),
    ],
  },
  {
    what: 'calls of tools in namespaces, by the names that it gave them',
    question: asking({
      tools: [
        { ...hours, namespace: 'mcp__desk' },
        { ...rooms, namespace: `mcp__house_with_${'many_'.repeat(8)}rooms` },
      ],
    }),
    fits: ({ client }) => client.protocol === 'openai-responses',
    acts: [
      saying({
        calls: [callOf('call_1', hours.name, { day: 'Monday' }), callOf('call_2', rooms.name, { from: '9' })],
      }),
      saying({ text: 'Open ✓' }),
    ],
  },
  {
    what: 'calls of tools, of which the first has a state that its provider gets back with it',
    question: asking({ tools: [hours, rooms] }),
    fits: ({ provider }) => provider.protocol === 'openai-chat',
    acts: [
      saying({
        calls: [
          { ...callOf('call_1', 'opening_hours', { day: 'Monday' }), state: 'c2lnbmF0dXJl' },
          callOf('call_2', 'free_rooms', { from: '9' }),
        ],
      }),
      saying({ text: 'Open ✓' }),
    ],
  },
  {
    what: 'an answer to the results of tools, which are next to their calls although the user says something before them',
    question: asking({ tools: [hours, rooms] }),
    saidBeforeResults: 'Be quick.',
    fits: isTranslated,
    acts: [
      saying({
        calls: [callOf('call_1', 'opening_hours', { day: 'Monday' }), callOf('call_2', 'free_rooms', { from: '9' })],
      }),
      saying({ text: 'Open ✓' }),
    ],
  },
  {
    what: 'a call of a tool after some reasoning, which its provider gets back with the result',
    question: asking({ tools: [hours], thinks: true }),
    acts: [
      saying({ thought: 'I need the hours.', calls: [callOf('call_1', 'opening_hours', { day: 'Monday' })] }),
      saying({ thought: 'And of Tuesday.', calls: [callOf('call_2', 'opening_hours', { day: 'Tuesday' })] }),
      saying({ text: 'Open on both days ✓' }),
    ],
  },
  {
    what: 'an answer to a prompt that it asks to be cached',
    question: asking({
      content: [{ kind: 'text', text: 'The hours are long.', isCached: true }, text('When do you open?')],
      tools: [rooms, { ...hours, isCached: true }],
    }),
    // OpenAI refuses what it does not know, and natively all passes as it came.
    fits: (cell) => isTranslated(cell) || cell.client.protocol === 'anthropic-messages',
    acts: [saying({ text: 'Monday 9–17 ✓' })],
  },
  {
    what: 'an answer to an image',
    question: asking({ content: [text('What is this?'), { kind: 'image', mediaType: 'image/png', data: png }] }),
    acts: [saying({ text: 'A point.' })],
  },
  {
    what: 'an answer to a document',
    question: asking({
      content: [{ kind: 'document', mediaType: 'application/pdf', data: pdf, name: 'hours.pdf' }, text('Sum it up.')],
    }),
    acts: [saying({ text: 'It is empty.' })],
  },
  {
    what: 'an answer in the form of its schema',
    question: asking({
      schema: {
        type: 'object',
        properties: { from: { type: 'integer' }, to: { type: 'integer' } },
        required: ['from', 'to'],
        additionalProperties: false,
      },
    }),
    acts: [saying({ text: '{"from":9,"to":17}' })],
  },
  {
    what: 'a text that is cut off',
    question: asking(),
    acts: [saying({ text: 'Monday 9', reason: 'length' })],
  },
  {
    what: 'an answer that is cut off in the arguments of its second call, without this call',
    question: asking({ tools: [hours, rooms] }),
    acts: [saying({ text: 'Let me look.', calls: cutCalls, reason: 'length' })],
  },
  {
    what: 'an error for a call whose arguments end too early',
    question: asking({ tools: [hours, rooms] }),
    // A whole answer of Messages has the arguments as an object.
    fits: (cell) => isTranslated(cell) && (cell.isStreamed || cell.provider.protocol !== 'anthropic-messages'),
    acts: [{ kind: 'garbles', said: { thought: '', text: 'Let me look.', calls: cutCalls, reason: 'tool-calls' } }],
  },
  {
    what: 'a refusal because the provider is busy',
    question: asking(),
    acts: [{ kind: 'refuses', fault: 'busy' }],
  },
  {
    what: 'a refusal of the request',
    question: asking(),
    acts: [{ kind: 'refuses', fault: 'invalid' }],
  },
  {
    what: 'an error that comes in the stream before its head is sent',
    fits: ({ isStreamed }) => isStreamed,
    question: asking(),
    acts: [{ kind: 'fails', after: 'nothing', fault: 'busy' }],
  },
  {
    what: 'an error that comes in the stream after a silence in which its head is sent',
    question: asking(),
    fits: ({ isStreamed }) => isStreamed,
    acts: [{ kind: 'fails', after: 'silence', fault: 'busy' }],
  },
  {
    what: 'a text after a silence in which its head is sent',
    question: asking(),
    fits: ({ isStreamed }) => isStreamed,
    acts: [{ kind: 'pauses', said: { thought: '', text: 'Monday 9–17 ✓', calls: [], reason: 'stop' } }],
  },
  {
    what: 'an error that comes in the stream after some text',
    fits: ({ isStreamed }) => isStreamed,
    question: asking(),
    acts: [{ kind: 'fails', after: 'text', fault: 'busy' }],
  },
  {
    what: 'an error when the connection breaks after some text',
    question: asking(),
    acts: [{ kind: 'breaks' }],
  },
];
