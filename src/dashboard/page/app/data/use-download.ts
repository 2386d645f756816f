import { toApiError } from '#dashboard/page/api/api-error.ts';
import { useSession } from '#dashboard/page/app/session/session.ts';

export interface DownloadRequest {
  readonly path: string;
  /** The name of the file on the user's disk. */
  readonly name: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** The title of the message if the download fails. */
  readonly failure?: string;
}

/**
 * Returns a function that reads a file and gives it to the browser to store. A link cannot do this, because it sends no
 * key. The function never rejects: the page shows why it failed.
 */
export function useDownload(): (download: DownloadRequest) => Promise<void> {
  const { api, toasts } = useSession();
  return async ({ path, name, headers = {}, failure = `${name} could not be read.` }) => {
    try {
      const answer = await api.open(path, { headers });
      const address = URL.createObjectURL(await answer.blob());
      Object.assign(document.createElement('a'), { href: address, download: name }).click();
      URL.revokeObjectURL(address);
    } catch (error) {
      toasts.showError(failure, toApiError(error).message);
    }
  };
}
