import { readConfig } from '#app/config.ts';
import type { EventStoreConfig } from '#app/store-config.ts';
import { parseWords, unknownWord } from '#cli/shared/command-line.ts';
import { StartupError } from '#shared/errors/startup-error.ts';

const commands = {
  export: { words: ['file'], options: ['store', 'resume', 'unverified'] },
  import: { words: ['file'], options: ['store'] },
  verify: { words: [], options: ['store', 'digests', 'key'] },
  'skip-event': { words: ['position'], options: ['reason'] },
  archive: { words: [], options: ['before'] },
  archives: { words: [], options: ['store'] },
  unarchive: { words: ['day', 'file'], options: [] },
  digest: { words: [], options: ['after-restore'] },
  'digest-key': { words: [], options: ['public'] },
} satisfies Readonly<Record<string, Command>>;

interface Command {
  readonly words: ReadonlyArray<'file' | 'day' | 'position'>;
  readonly options: ReadonlyArray<string>;
}

export interface EventsArguments {
  readonly command: 'help' | keyof typeof commands;
  /** The file; empty if the command takes none. */
  readonly file: string;
  readonly day: string;
  readonly position: string;
  /** Why an event is skipped; empty if the command takes none. */
  readonly reason: string;
  readonly flags: { readonly resume: boolean; readonly unverified: boolean };
  /** The address of the store, as given on the command line. */
  readonly store: string | undefined;
  /** The folder of the digests; `key` is the file of the key that must have signed them. */
  readonly digests: string | undefined;
  readonly key: string | undefined;
  /** The day before which days are archived; empty if the command takes none. */
  readonly before: string;
  readonly afterRestore: boolean;
  readonly public: boolean;
}

/**
 * @returns null if it is empty
 * @throws StartupError for an unknown or missing word, and for options that contradict each other
 */
export function readEventsArguments(words: string[]): EventsArguments | null {
  const { values, positionals } = parsed(words);
  const [name, ...given] = positionals;
  if (values.help === true) return argumentsOf('help', values, {});
  if (name === undefined) return null;
  if (!isCommand(name)) throw unknownWord('events', name, Object.keys(commands));
  const command: Command = commands[name];
  const option = Object.keys(values).find((option) => !command.options.includes(option));
  if (option !== undefined)
    throw unknownWord(
      'events',
      `--${option}`,
      command.options.map((known) => `--${known}`),
    );
  const surplus = given[command.words.length];
  if (surplus !== undefined) throw unknownWord('events', surplus, []);
  const named = Object.fromEntries(command.words.map((word, index) => [word, given[index]]));
  const asked = argumentsOf(name, values, named);
  checkWhole(asked, command);
  return asked;
}

function isCommand(name: string): name is keyof typeof commands {
  return Object.hasOwn(commands, name);
}

/** @throws StartupError if an argument is missing, or if two contradict each other */
function checkWhole({ command, flags, key, digests, before, ...asked }: EventsArguments, { words }: Command): void {
  const missing = words.find((word) => asked[word] === '');
  if (missing !== undefined) throw incomplete(`${command} needs a <${missing}>`);
  if (command === 'skip-event' && asked.reason.trim() === '') throw incomplete('skip-event needs --reason <text>');
  if (command === 'archive' && before === '') throw incomplete('archive needs --before <time>');
  if (command === 'export' && asked.file === '-' && flags.resume)
    throw incomplete('--resume continues a file, and not standard output');
  if (key !== undefined && digests === undefined) throw incomplete('--key needs --digests <folder>');
}

function incomplete(reason: string): StartupError {
  return new StartupError(`${reason}. See: npm run events -- --help`);
}

function argumentsOf(
  command: EventsArguments['command'],
  values: ReturnType<typeof parsed>['values'],
  { file = '', day = '', position = '' }: Partial<Record<string, string | undefined>>,
): EventsArguments {
  const { resume = false, unverified = false, store, digests, key, before = '', reason = '' } = values;
  const { 'after-restore': afterRestore = false, public: isPublic = false } = values;
  return {
    command,
    file,
    day,
    position,
    reason,
    flags: { resume, unverified },
    store,
    digests,
    key,
    before,
    afterRestore,
    public: isPublic,
  };
}

function parsed(words: string[]) {
  const options = {
    help: { type: 'boolean' },
    resume: { type: 'boolean' },
    unverified: { type: 'boolean' },
    store: { type: 'string' },
    digests: { type: 'string' },
    key: { type: 'string' },
    before: { type: 'string' },
    reason: { type: 'string' },
    'after-restore': { type: 'boolean' },
    public: { type: 'boolean' },
  } as const;
  return parseWords('npm run events -- --help', { args: words, options, allowPositionals: true });
}

/**
 * Reads the address of the event store, and no other setting of the service.
 * @param store of `--store`
 * @throws StartupError
 */
export function readLogAddress(store: string | undefined): EventStoreConfig {
  const { DATA_DIR, EVENT_STORE_URL, EVENT_STORE_STREAM_PREFIX } = process.env;
  try {
    return readConfig({ DATA_DIR, EVENT_STORE_URL: store ?? EVENT_STORE_URL, EVENT_STORE_STREAM_PREFIX }).eventStore;
  } catch (error) {
    if (store === undefined || !(error instanceof StartupError)) throw error;
    throw new StartupError(
      error.message.replaceAll('EVENT_STORE_URL=', '--store ').replaceAll('EVENT_STORE_URL', '--store'),
    );
  }
}
