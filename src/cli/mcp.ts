import { readFile } from 'node:fs/promises';
import { runTool } from '#cli/shared/command-line.ts';
import { faultOfKeyText } from '#domain/api-key/secret.ts';
import { runStdioProxy } from '#mcp/proxy/stdio-proxy.ts';
import { StartupError } from '#shared/errors/startup-error.ts';
import { parseWords } from './shared/command-line.ts';

const usage = `Usage: switchyard-mcp [--url http://127.0.0.1:8080] [--key-file FILE] [--readonly] [--tools flows,templates]

Speaks the Model Context Protocol over standard input and output, and forwards each message to a Switchyard service. The
API key comes from SWITCHYARD_API_KEY, or from the file that --key-file names: never from an argument, for every user of
a machine can read those.
`;

await runTool('switchyard-mcp', usage, run);

async function run(words: ReadonlyArray<string>): Promise<number> {
  const options = optionsOf(words);
  await runStdioProxy({
    url: addressOf(options),
    key: await keyOf(options['key-file']),
    input: process.stdin,
    output: process.stdout,
    onFault: (text) => process.stderr.write(`switchyard-mcp: ${text}\n`),
  });
  return 0;
}

interface Options {
  readonly url?: string;
  readonly 'key-file'?: string;
  readonly readonly?: boolean;
  readonly tools?: string;
}

function optionsOf(words: ReadonlyArray<string>): Options {
  const options = {
    url: { type: 'string' },
    'key-file': { type: 'string' },
    readonly: { type: 'boolean' },
    tools: { type: 'string' },
  } as const;
  return parseWords('switchyard-mcp --help', { args: [...words], options }).values;
}

function addressOf({ url = 'http://127.0.0.1:8080', readonly, tools }: Options): URL {
  if (!URL.canParse(url) || !/^https?:$/.test(new URL(url).protocol)) {
    throw new StartupError('--url must be the address of a service. Example: --url https://switchyard.example.com');
  }
  const address = new URL(url);
  if (!address.pathname.endsWith('/mcp')) address.pathname = `${address.pathname.replace(/\/$/, '')}/mcp`;
  if (readonly === true) address.searchParams.set('readonly', '1');
  if (tools !== undefined) address.searchParams.set('tools', tools);
  return address;
}

async function keyOf(file: string | undefined): Promise<string> {
  const [key, source] =
    file === undefined
      ? [process.env.SWITCHYARD_API_KEY, 'SWITCHYARD_API_KEY']
      : [await readFile(file, 'utf8').catch(() => undefined), `the file ${file}`];
  if (key === undefined)
    throw new StartupError(`There is no API key: ${source} ${file === undefined ? 'is not set' : 'cannot be read'}.`);
  const fault = faultOfKeyText(key.trim());
  if (fault !== null) throw new StartupError(`${source} holds no API key: it ${fault}.`);
  return key.trim();
}
