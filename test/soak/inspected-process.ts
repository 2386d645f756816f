import { readdirSync, readlinkSync } from 'node:fs';

/** The resources that an idle process holds. */
export interface Holdings {
  /** Bytes on the heap after a garbage collection. */
  readonly heap: number;
  /** Bytes of buffers outside the heap. */
  readonly external: number;
  readonly resident: number;
  readonly descriptors: number;
  readonly sockets: number;
}

/**
 * Measures a process through its inspector.
 * @param inspectorUrl the inspector's address: `http://127.0.0.1:port`
 */
export async function holdingsOf(pid: number, inspectorUrl: string): Promise<Holdings> {
  // The second collection frees what the finalizers of the first one have released.
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

/** Returns the targets of the open file descriptors. */
export function openDescriptors(pid: number): ReadonlyArray<string> {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).flatMap((name) => {
    try {
      return [readlinkSync(`${folder}/${name}`)];
    } catch {
      // Closed after it was listed.
      return [];
    }
  });
}

type Command = readonly [method: string, parameters: object];

/** Sends commands of the inspector's protocol, one after the other. @returns the parsed result of the last one */
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
