import { useState } from 'preact/hooks';
import { setSearch } from '#dashboard/page/app/routing/location.ts';

/** Whether the dialog that makes a resource is open: a link with `?new=…` opens it. */
export function useNewDialog(search: URLSearchParams): readonly [isOpen: boolean, setOpen: (isOpen: boolean) => void] {
  const [isOpen, setOpen] = useState(search.has('new'));
  const change = (next: boolean) => {
    setOpen(next);
    if (!next && search.has('new')) setSearch({ new: null });
  };
  return [isOpen, change];
}
