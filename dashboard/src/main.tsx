import "@patternfly/react-core/dist/styles/base.css";
import { QueryClientProvider } from "@tanstack/react-query";
import { RouterProvider } from "@tanstack/react-router";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { arrived } from "./arrival";
import { queryClient } from "./data/queries";
import { router } from "./routes";
import { startTheme } from "./shell/theme";
import "./style.css"; // after the styles of components, which it changes

startTheme();

// A list that is drawn without its styles is as high as all its rows, and would draw each of them.
void arrived(document).then(() => {
  const place = document.getElementById("root");
  if (!place) return;
  createRoot(place).render(
    <StrictMode>
      <QueryClientProvider client={queryClient}>
        <RouterProvider router={router} />
      </QueryClientProvider>
    </StrictMode>,
  );
});
