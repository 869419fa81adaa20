interface Props {
  names: readonly string[];
  /** How many are named; of the others, how many there are. */
  most?: number;
}

/** The names of what something is about to be done to. */
export function NameList({ names, most = 5 }: Props) {
  return (
    <ul>
      {names.slice(0, most).map((name, index) => (
        <li key={index} className="tw-break">
          {name}
        </li>
      ))}
      {names.length > most && <li>and {names.length - most} more</li>}
    </ul>
  );
}
