import { lazy, useState, type ComponentType } from "react";

type Load<P> = () => Promise<{ default: ComponentType<P> }>;

/**
 * A component whose code is loaded when it is shown, or before that by `load`: then it is drawn at once. React's
 * `lazy` alone shows what stands in for it first, and for 300 ms, even if the code is there.
 */
export function later<P extends object>(load: Load<P>) {
  let ready: ComponentType<P> | undefined;
  const loaded: Load<P> = async () => {
    const code = await load();
    ready = code.default;
    return code;
  };
  const Lazy: ComponentType<P> = lazy(loaded);
  function Later(props: P) {
    const [{ View }] = useState(() => ({ View: ready ?? Lazy })); // another one would begin anew
    return <View {...props} />;
  }
  return Object.assign(Later, { load: loaded });
}
