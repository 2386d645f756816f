import { readChatEvent } from '#gateway/protocols/openai-chat/chat-event.ts';
import { ChatEventReader } from '#gateway/protocols/openai-chat/chat-event-reader.ts';
import { chatEvent, obfuscation } from './gateway-processes/chat-events.ts';
import { format, median, print, printResults } from './measure.ts';

const rounds = 9;
const streams = 60;
const eventsOfStream = 500;

const words = [' the', ' opening', ' hours', ' of', ' a', ' museum', ' are', '.', ' Saturdays', ' families'];

/** Reads the events of a stream. */
type Read = (events: ReadonlyArray<string>) => void;

interface Contestant {
  readonly name: string;
  readonly events: ReadonlyArray<string>;
  readonly read: Read;
}

const readFast: Read = (events) => {
  const reader = new ChatEventReader();
  for (const event of events) reader.read(event);
};
const parseEach: Read = (events) => {
  for (const event of events) readChatEvent(event);
};

const obfuscatedEvents = eventsOf(() => ({ obfuscation: obfuscation() }));
const numberedEvents = eventsOf((index) => ({ number: index }));

const constant: Contestant = {
  name: 'constant bytes around the text',
  events: eventsOf(() => ({})),
  read: readFast,
};
const obfuscated: Contestant = { name: 'with obfuscation', events: obfuscatedEvents, read: readFast };
const obfuscatedParsed: Contestant = {
  name: 'with obfuscation, each parsed',
  events: obfuscatedEvents,
  read: parseEach,
};
const numbered: Contestant = { name: 'with another number each', events: numberedEvents, read: readFast };
const numberedParsed: Contestant = {
  name: 'with another number, each parsed',
  events: numberedEvents,
  read: parseEach,
};
const contestants: ReadonlyArray<Contestant> = [constant, obfuscated, obfuscatedParsed, numbered, numberedParsed];

/** `npm run bench -- gateway-events`: the processor time to read an event of a chat stream, in this process. */
export default async function gatewayEvents(): Promise<void> {
  const figures = new Map<string, number[]>(contestants.map(({ name }) => [name, []]));
  for (let round = 0; round <= rounds; round += 1) {
    // The order changes, so that no contestant always follows the same one.
    for (const contestant of round % 2 === 0 ? contestants : contestants.toReversed()) {
      const microseconds = measure(contestant);
      if (round > 0) figures.get(contestant.name)?.push(microseconds);
    }
  }
  const of = (name: string) => median(figures.get(name) ?? []);
  for (const { name } of contestants) print(`${name}: ${format(of(name))} µs an event`);
  print();
  const ratio = (one: Contestant, other: Contestant) => of(one.name) / of(other.name);
  printResults([
    { what: 'obfuscation, of constant bytes', figure: ratio(obfuscated, constant), unit: ' ×', required: 2, aim: 1.5 },
    {
      what: 'obfuscation, of parsing',
      figure: ratio(obfuscated, obfuscatedParsed),
      unit: ' ×',
      required: 0.5,
      aim: 0.3,
    },
    {
      what: 'another number, of parsing',
      figure: ratio(numbered, numberedParsed),
      unit: ' ×',
      required: 1.2,
      aim: 1.1,
    },
  ]);
}

function eventsOf(more: (index: number) => object): ReadonlyArray<string> {
  return Array.from({ length: eventsOfStream }, (_, index) =>
    chatEvent({ content: words[index % words.length] }, null, more(index)),
  );
}

/** Returns the microseconds of processor time for an event. */
function measure({ events, read }: Contestant): number {
  const before = process.cpuUsage();
  for (let stream = 0; stream < streams; stream += 1) read(events);
  return process.cpuUsage(before).user / (streams * events.length);
}
