// Starts the dashboard.

import { mount } from "svelte";
import "../lib/page.css";
import "./dashboard.css";
import App from "./App.svelte";

const target = document.getElementById("page");
if (target) mount(App, { target });
