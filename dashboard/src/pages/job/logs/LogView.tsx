import { useVirtualizer } from "@tanstack/react-virtual";
import { useEffect, useLayoutEffect, useRef } from "react";
import { LogRow } from "./LogRow";
import { isAtEnd, isAtStart, linesOf, shareAt } from "./pages";
import type { LogPages } from "./useLogPages";

const ROW = 20;
/** How many lines before an end the next ones are fetched. */
const EARLY = 60;

interface Props {
  log: LogPages;
  wanted: string;
  isWrapped: boolean;
  isFollowing: boolean;
  withTime: boolean;
  withNode: boolean;
  onLeave: () => void;
  onShare: (share: number) => void;
}

/** The lines that are in the browser, of which only those in sight are drawn. */
export function LogView({
  log,
  wanted,
  isWrapped,
  isFollowing,
  withTime,
  withNode,
  onLeave,
  onShare,
}: Props) {
  const box = useRef<HTMLDivElement>(null);
  const lines = linesOf(log.pages);
  const rows = useVirtualizer({
    count: lines.length,
    getScrollElement: () => box.current,
    estimateSize: () => ROW,
    getItemKey: (index) => lines[index]?.id ?? index,
    overscan: 20,
  });
  const { jump, older, newer, pages } = log;
  const newest = lines.at(-1)?.id;
  const middle = lines.findIndex((line) => line.id === jump.around);

  useLayoutEffect(() => {
    if (jump.around && middle >= 0) rows.scrollToIndex(middle, { align: "center" });
    else if (jump.isEnd) rows.scrollToIndex(lines.length - 1, { align: "end" });
    else rows.scrollToOffset(0);
    // Only when another place was looked at: what is fetched later must not move it.
    // eslint-disable-next-line react-hooks/exhaustive-deps
  }, [jump.number]);

  useEffect(() => {
    if (isFollowing) rows.scrollToIndex(lines.length - 1, { align: "end" });
    // eslint-disable-next-line react-hooks/exhaustive-deps -- lines that came before the others move nothing
  }, [isFollowing, newest, rows]);

  useEffect(() => rows.measure(), [isWrapped, rows]);

  const items = rows.getVirtualItems();
  const [first, last] = [items[0]?.index ?? 0, items.at(-1)?.index ?? 0];
  const placed = useRef(0);
  useEffect(() => {
    // At an end of what is here nothing scrolls any more: what is next to it is fetched before.
    if (lines.length === 0) return;
    onShare(shareAt(pages, first));
    const isScrolling = placed.current !== jump.number && (jump.isEnd || jump.around !== "");
    placed.current = jump.number;
    if (isScrolling) return;
    if (first < EARLY && !isAtStart(pages)) {
      if (last < lines.length - EARLY) onLeave(); // whoever drags the scroll bar up wants to read there
      void older().then((added) => {
        if (added > 0) requestAnimationFrame(() => rows.scrollToIndex(first + added, { align: "start" }));
      });
    } else if (last > lines.length - EARLY && !isAtEnd(pages)) void newer();
    // eslint-disable-next-line react-hooks/exhaustive-deps -- when other lines are in sight, or came
  }, [first, last, pages, jump.number]);
  return (
    <div
      ref={box}
      className={isWrapped ? "tw-log tw-log-wrapped" : "tw-log"}
      role="log"
      aria-live="off"
      aria-label="Lines of the log"
      tabIndex={0}
      onWheel={(event) => event.deltaY < 0 && onLeave()}
      onTouchMove={onLeave}
      onKeyDown={(event) => ["ArrowUp", "PageUp", "Home"].includes(event.key) && onLeave()}
    >
      <div className="tw-log-inner" style={{ height: rows.getTotalSize() }}>
        {items.map((item) => {
          const line = lines[item.index];
          return (
            line && (
              <div
                key={item.key}
                ref={isWrapped ? rows.measureElement : undefined}
                data-index={item.index}
                className={item.index === middle ? "tw-line tw-line-found" : "tw-line"}
                style={{ transform: `translateY(${item.start}px)` }}
              >
                <LogRow line={line} wanted={wanted} withTime={withTime} withNode={withNode} />
              </div>
            )
          );
        })}
      </div>
    </div>
  );
}
