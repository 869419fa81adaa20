import { expect, it } from "vitest";
import { browserName, placeName } from "./browser";

it("knows browsers", () => {
  const chrome =
    "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/141.0.0.0 Safari/537.36";
  expect(browserName(chrome)).toBe("Chrome on Linux");
  expect(browserName(chrome.replace("X11; Linux", "Windows NT 10.0") + " Edg/141.0")).toBe("Edge on Windows");
  expect(browserName("Mozilla/5.0 (Android 14; Mobile; rv:140.0) Gecko/140.0 Firefox/140.0")).toBe(
    "Firefox on Android",
  );
  expect(
    browserName(
      "Mozilla/5.0 (Macintosh; Intel Mac OS X 14_0) AppleWebKit/605.1.15 Version/18.0 Safari/605.1.15",
    ),
  ).toBe("Safari on macOS");
});

it("takes what it does not know as it is", () => {
  expect(browserName("<img src=x>")).toBe("<img src=x>");
  expect(browserName("")).toBe("an unknown browser");
});

it("knows this machine", () => {
  expect(placeName("127.0.0.1")).toBe("the server’s machine");
  expect(placeName("::1")).toBe("the server’s machine");
  expect(placeName("10.0.0.7")).toBe("10.0.0.7");
  expect(placeName("")).toBe("unknown");
});
