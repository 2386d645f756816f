import type { IncomingMessage, ServerResponse } from 'node:http';
import Koa from 'koa';

/**
 * Koa without the objects that it creates for every request (a composed chain, a listener on the response, closures).
 * Its only middleware writes directly to the response and never rejects.
 */
export class SlimKoa extends Koa {
  override callback(): ReturnType<Koa['callback']> {
    const [answer, ...others] = this.middleware;
    if (answer === undefined || others.length > 0) throw new Error('The app has one middleware: the HTTP adapter');
    const end = async () => undefined;
    return (req, res) => answer(this.createContext(req as IncomingMessage, res as ServerResponse), end);
  }
}
