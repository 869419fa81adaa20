import { useState } from "react";

interface Typed {
  value: string;
  onChange: (text: string) => void;
  onBlur: () => void;
}

/**
 * A text that somebody types and that is in the address of the page, which follows a moment later.
 * While the field has the focus it shows what was typed: else letters were lost, and the cursor jumped.
 */
export function useTyped(value: string, onChange: (text: string) => void): Typed {
  const [typed, setTyped] = useState<string | null>(null);
  return {
    value: typed ?? value,
    onChange: (text) => {
      setTyped(text);
      onChange(text);
    },
    onBlur: () => setTyped(null),
  };
}
