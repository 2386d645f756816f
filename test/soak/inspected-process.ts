import { readdirSync, readlinkSync } from 'node:fs';

/** What a process holds when it has nothing to do. */
export interface Holdings {
  /** Bytes on its heap, after a collection. */
  readonly heap: number;
  /** Bytes outside it: buffers. */
  readonly external: number;
  readonly resident: number;
  readonly descriptors: number;
  readonly sockets: number;
}

/**
 * Looks into a process through its inspector.
 * @param inspectorUrl where it listens: `http://127.0.0.1:port`
 */
export async function holdingsOf(pid: number, inspectorUrl: string): Promise<Holdings> {
  // A second collection takes what the finalizers of the first have let go.
  const { heapUsed, external, rss } = await inspected(inspectorUrl, [
    ['HeapProfiler.collectGarbage', {}],
    ['HeapProfiler.collectGarbage', {}],
    ['Runtime.evaluate', { expression: 'JSON.stringify(process.memoryUsage())' }],
  ]);
  const open = openDescriptors(pid);
  return {
    heap: heapUsed,
    external,
    resident: rss,
    descriptors: open.length,
    sockets: open.filter((target) => target.startsWith('socket:')).length,
  };
}

/** What its file descriptors point at. */
export function openDescriptors(pid: number): ReadonlyArray<string> {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).flatMap((name) => {
    try {
      return [readlinkSync(`${folder}/${name}`)];
    } catch {
      // Closed since it was listed.
      return [];
    }
  });
}

type Command = readonly [method: string, parameters: object];

/** Runs commands of the inspector's protocol in turn. @returns what the last one evaluated to, parsed */
async function inspected(inspectorUrl: string, commands: ReadonlyArray<Command>): Promise<NodeJS.MemoryUsage> {
  const [target] = (await (await fetch(`${inspectorUrl}/json/list`)).json()) as [{ webSocketDebuggerUrl: string }];
  const socket = new WebSocket(target.webSocketDebuggerUrl);
  try {
    await opened(socket);
    let value = '';
    for (const [method, params] of commands) value = await answered(socket, method, params);
    return JSON.parse(value) as NodeJS.MemoryUsage;
  } finally {
    socket.close();
  }
}

function opened(socket: WebSocket): Promise<void> {
  return new Promise((resolve, reject) => {
    socket.addEventListener('open', () => resolve(), { once: true });
    socket.addEventListener('error', () => reject(new Error('the inspector cannot be reached')), { once: true });
  });
}

interface InspectorAnswer {
  readonly result?: { readonly result?: { readonly value?: string } };
}

function answered(socket: WebSocket, method: string, params: object): Promise<string> {
  return new Promise((resolve) => {
    socket.addEventListener(
      'message',
      ({ data }) => resolve((JSON.parse(String(data)) as InspectorAnswer).result?.result?.value ?? ''),
      { once: true },
    );
    socket.send(JSON.stringify({ id: 1, method, params }));
  });
}
